import type { Logger } from '@strandline/core';
import type { Pipeline } from '@strandline/pipeline';

/** A pipeline that could not start, or had to stop. */
export interface Failure {
  readonly pipeline: string;
  readonly error: unknown;
}

export interface Supervision {
  readonly pipelines: readonly Pipeline[];
  /** Aborts when all pipelines shall drain and stop; its reason is logged. */
  readonly stop: AbortSignal;
  readonly log: Logger;
}

/**
 * Runs pipelines until all of them have stopped, and returns the failures. They stand and fall together: when
 * one fails the others drain, since a process that runs on with half of its work looks healthy from outside.
 */
export async function supervise({ pipelines, stop, log }: Supervision): Promise<readonly Failure[]> {
  if (stop.aborted) return [];
  const failures: Failure[] = [];
  let isStopping = false;
  let stopped: Promise<unknown> = Promise.resolve();
  const stopAll = (): void => {
    if (isStopping) return;
    isStopping = true;
    stopped = Promise.all(pipelines.map((pipeline) => pipeline.stop()));
  };
  stop.addEventListener('abort', () => {
    log.info({ reason: String(stop.reason) }, 'stopping: what is in flight may end');
    stopAll();
  });

  const lives = pipelines.map((pipeline) => ({ pipeline, started: pipeline.start() }));
  const up = Promise.all(lives.map(({ started }) => started));
  up.then(
    () => {
      if (!isStopping) log.info({}, readyLine(pipelines));
    },
    () => undefined, // each failure is reported below
  );
  const live = async ({ pipeline, started }: (typeof lives)[number]): Promise<void> => {
    try {
      await Promise.all([started, pipeline.finished]);
    } catch (error) {
      failures.push({ pipeline: pipeline.name, error });
      if (pipelines.length > 1)
        log.warn({ failed: pipeline.name }, 'a pipeline has failed: the others drain');
      stopAll();
    }
  };
  await Promise.all(lives.map(live));
  await stopped;
  return failures;
}

function readyLine(pipelines: readonly Pipeline[]): string {
  const standby = pipelines.filter((pipeline) => pipeline.status().state === 'standby');
  const running = pipelines.filter((pipeline) => !standby.includes(pipeline));
  const names = (some: readonly Pipeline[]): string => some.map(({ name }) => name).join(', ');
  const parts = [
    ...(running.length === 0 ? [] : [`running ${names(running)}`]),
    ...(standby.length === 0
      ? []
      : [
          `standing by for ${names(standby)}, which another process runs: it takes over when that one is gone`,
        ]),
  ];
  return `ready: ${parts.join('; ')}`;
}
