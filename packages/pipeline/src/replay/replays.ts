import type { Logger } from '@strandline/core';
import type { PipelineConfig } from '../config.js';
import { pipelineError, type PipelineError } from '../errors.js';
import { Counting } from './counting.js';
import { Handling } from './handling.js';
import { openReplay, type OpenedReplay } from './open-replay.js';
import { parseReplayOptions, type ReplayOptions, type ReplayRequest } from './options.js';
import { RunningReplay, type Replay } from './replay.js';
import { ReplayStream } from './replay-stream.js';
import { Tally } from './tally.js';
import type { ReplayWork } from './work.js';

/** The replays of one pipeline in this process: each name once at a time, and all of them end with it. */
export class Replays {
  readonly #config: PipelineConfig;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  /** By name; null while it opens. */
  readonly #running = new Map<string, RunningReplay | null>();
  /** What `close` waits for. */
  readonly #lives = new Set<Promise<unknown>>();

  constructor(config: PipelineConfig, log: Logger) {
    this.#config = config;
    this.#log = log;
  }

  async start(options: ReplayOptions): Promise<Replay> {
    const request = parseReplayOptions(options, this.#config);
    const { name } = request;
    if (this.#isClosing()) throw this.#closed();
    if (this.#running.has(name)) {
      throw pipelineError(
        'REPLAY_TAKEN',
        `A replay by the name ${name} runs here already.`,
        'Wait for it, stop it, or give this one a name of its own (as, --as).',
      );
    }
    this.#running.set(name, null);
    const opening = this.#open(request);
    this.#holds(opening);
    try {
      const replay = await opening;
      this.#running.set(name, replay);
      const ended = replay.finished.then(
        () => this.#running.delete(name),
        () => this.#running.delete(name),
      );
      this.#holds(ended);
      // It may have been closed since the last look.
      if (this.#isClosing()) void replay.stop();
      return replay;
    } catch (error) {
      this.#running.delete(name);
      throw this.#isClosing() ? this.#closed() : error;
    }
  }

  /** Whether the caller is a handler of one of them, before its first await. */
  get insideHandler(): boolean {
    return [...this.#running.values()].some((replay) => replay?.insideHandler === true);
  }

  /** Starts no more of them and interrupts those that run. Resolves when all have ended. */
  async close(): Promise<void> {
    // Those that run are stopped first: the signal, which their readers know, is no fault to them then.
    for (const replay of this.#running.values()) void replay?.stop();
    this.#closing.abort();
    while (this.#lives.size > 0) await Promise.all(this.#lives);
  }

  async #open(request: ReplayRequest): Promise<RunningReplay> {
    const log = this.#log.child({ replay: request.name });
    const { signal } = this.#closing;
    const opened = await openReplay({ config: this.#config, request, signal, log });
    try {
      await this.#tellStart(request, opened, log);
    } catch (error) {
      await opened.reader.close();
      throw error;
    }
    const tally = new Tally();
    const { reader, range, offset } = opened;
    const start = offset?.watermark ?? range.after;
    log.info({ from: start, to: range.until, dryRun: request.dryRun }, 'replaying');
    const work = this.#workOf(request, opened, tally, log);
    return new RunningReplay({ request, reader, range, start, work, tally, log });
  }

  #workOf(request: ReplayRequest, opened: OpenedReplay, tally: Tally, log: Logger): ReplayWork {
    const { reader, range, offset } = opened;
    const { filter } = request;
    if (offset === null) return new Counting(reader, range, filter, tally);
    const stream = new ReplayStream({ reader, offset, range, filter });
    return new Handling({ config: this.#config, request, stream, tally, log });
  }

  /** Whoever replays into something may want to empty it first. */
  async #tellStart(
    { name }: ReplayRequest,
    { range, offset, isNew }: OpenedReplay,
    log: Logger,
  ): Promise<void> {
    const { onReplayStart } = this.#config;
    const { signal } = this.#closing;
    if (onReplayStart === undefined || offset === null || !isNew) return;
    const told = new Promise((resolve) => {
      resolve(onReplayStart({ replay: name, from: range.after, to: range.until, signal, log }));
    });
    try {
      await Promise.race([told, aborted(signal)]);
    } catch (cause) {
      throw pipelineError(
        'REPLAY_HOOK',
        `onReplayStart has failed before the replay ${name}: nothing was replayed.`,
        'Correct the cause, which is below, and start the replay again.',
        { cause },
      );
    }
  }

  #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  #closed(): PipelineError {
    return pipelineError(
      'PIPELINE_STATE',
      `The pipeline ${this.#config.name} was stopped here, and its replays with it.`,
      'Define the pipeline again to replay. A replay that had begun goes on where it was.',
    );
  }

  #holds(life: Promise<unknown>): void {
    const held: Promise<unknown> = life
      .catch(() => undefined)
      .finally(() => {
        this.#lives.delete(held);
      });
    this.#lives.add(held);
  }
}

/** Rejects when the signal aborts. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = (): void => {
      reject(new Error('The pipeline was stopped.'));
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
