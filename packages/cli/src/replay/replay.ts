import type { Pipeline, Replay, ReplaySummary } from '@strandline/pipeline';
import { confirm } from '../confirm.js';
import { written, type Streams } from '../streams.js';
import { json } from '../text.js';
import { commandOf, replayOptionsOf, type ReplayCommandOptions } from './options.js';
import { ProgressLine, tellBeside } from './progress.js';
import { summaryText } from './summary.js';

/**
 * Replays until it is done or told to stop, and resolves with which of the two it was. Progress and what to do next go to
 * stderr, the summary to stdout, also when it rejects.
 */
export async function replay(
  pipeline: Pipeline,
  options: ReplayCommandOptions,
  streams: Streams,
  stop: AbortSignal,
): Promise<'completed' | 'interrupted'> {
  const { from, to } = options;
  if (options.dryRun !== true) {
    await confirm(
      `Call the handlers of ${pipeline.name} again for what lies after ${from.text}, up to ${to?.text ?? 'now'}?`,
      options.yes,
      streams,
    );
  }
  const onStop = (): void => {
    tellBeside(`interrupting ${pipeline.name}: what is in flight may end`, streams.stderr);
    // How the replay ended is for the replay to tell.
    void pipeline.stop().catch(() => undefined);
  };
  stop.addEventListener('abort', onStop, { once: true });
  if (stop.aborted) onStop();
  let running: Replay;
  try {
    running = await pipeline.replay(replayOptionsOf(options));
  } catch (error) {
    if (!stop.aborted) throw error;
    tellHowToGoOn(options, streams);
    return 'interrupted';
  }
  return finish(running, options, streams);
}

async function finish(
  running: Replay,
  options: ReplayCommandOptions,
  streams: Streams,
): Promise<'completed' | 'interrupted'> {
  const progress = new ProgressLine(() => running.status(), streams.stderr);
  let summary: ReplaySummary;
  try {
    summary = await running.finished;
  } catch (error) {
    progress.end();
    await tell(running.summary(), options, streams);
    tellHowToGoOn(options, streams);
    throw error;
  }
  progress.end();
  await tell(summary, options, streams);
  if (summary.state === 'completed') return 'completed';
  tellHowToGoOn(options, streams);
  return 'interrupted';
}

function tell(summary: ReplaySummary, options: ReplayCommandOptions, { stdout }: Streams): Promise<void> {
  return written(stdout, options.json === true ? json(summary) : summaryText(summary));
}

function tellHowToGoOn(options: ReplayCommandOptions, { stderr }: Streams): void {
  // A dry run keeps nothing to go on from.
  if (options.dryRun === true) return;
  stderr.write(`It is not done. To go on with it:\n  ${commandOf(options)}\n`);
}
