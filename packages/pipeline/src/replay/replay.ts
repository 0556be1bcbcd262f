import type { LogReader, Logger, Position } from '@strandline/core';
import { errorFields } from '../error-fields.js';
import type { ReplayRequest } from './options.js';
import type { ReplayRange } from './range.js';
import type { Counted, Tally } from './tally.js';
import type { ReplayWork } from './work.js';

/**
 * What a replay is doing:
 *
 *     running ──all done──► completed
 *        ├──────stop──────► interrupted   (the same replay, asked for again, goes on)
 *        └────an error────► failed        (so it does, once the cause is gone)
 */
export type ReplayState = 'running' | 'completed' | 'interrupted' | 'failed';

/** A look at a replay. Counts are of this process: a replay that goes on counts anew. */
export interface ReplayStatus {
  readonly name: string;
  readonly state: ReplayState;
  readonly dryRun: boolean;
  /** Events after this position … */
  readonly from: Position;
  /** … up to this one, inclusive, are replayed. */
  readonly to: Position;
  /** Everything up to here is handled. */
  readonly position: Position;
  /** Handled, or counted by a dry run. */
  readonly events: number;
  /** Not handled, since they don't fit key or type. */
  readonly skipped: number;
  /** Calls of the handler beyond the first one for an event. */
  readonly retries: number;
  /** How much of the log between `from` and `to` is done, 0 to 1; null where that can't be told. */
  readonly progress: number | null;
  /** Events per second. */
  readonly rate: number;
  /** Milliseconds until it is done, at the speed so far; null while that can't be told. */
  readonly remaining: number | null;
  /** Milliseconds since it was started here, or how long it took. */
  readonly duration: number;
}

export interface ReplaySummary extends ReplayStatus {
  /** Different keys of the events. At most 100,000 are told apart. */
  readonly keys: number;
  /** The ten with the most events. */
  readonly topKeys: readonly Counted[];
  readonly topTypes: readonly Counted[];
}

/** A replay that was started. It is stopped with its pipeline. */
export interface Replay extends AsyncDisposable {
  readonly name: string;
  status(): ReplayStatus;
  summary(): ReplaySummary;
  /**
   * Resolves when all is replayed, or after `stop`; rejects with a StrandlineError when the replay had to stop:
   * `REPLAY_FAILED` with key and position when a handler failed for good, `REPLAY_TAKEN` when another process has gone on
   * with it, and what source and offset store throw.
   */
  readonly finished: Promise<ReplaySummary>;
  /**
   * Interrupts it: what is in flight may end, within the pipeline's `drainTimeout`, and the offset is saved. Idempotent.
   * Called by a handler before its first await it resolves at once.
   */
  stop(): Promise<void>;
}

export interface RunningReplayOptions {
  readonly request: ReplayRequest;
  readonly reader: LogReader;
  readonly range: ReplayRange;
  /** Where it starts here: further on than the range when it goes on. */
  readonly start: Position;
  readonly work: ReplayWork;
  readonly tally: Tally;
  readonly log: Logger;
}

export class RunningReplay implements Replay {
  readonly finished: Promise<ReplaySummary>;
  readonly #options: RunningReplayOptions;
  readonly #startedAt = performance.now();
  #state: ReplayState = 'running';
  #endedAt: number | null = null;

  constructor(options: RunningReplayOptions) {
    this.#options = options;
    this.finished = this.#run();
  }

  get name(): string {
    return this.#options.request.name;
  }

  /** Whether the caller is a handler of it, before its first await. */
  get insideHandler(): boolean {
    return this.#options.work.insideHandler;
  }

  async stop(): Promise<void> {
    const { work } = this.#options;
    work.stop();
    if (work.insideHandler) return;
    // How it ended is for `finished` to tell.
    await this.finished.catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  status(): ReplayStatus {
    const { request, range, work, tally } = this.#options;
    const duration = (this.#endedAt ?? performance.now()) - this.#startedAt;
    const progress = this.#progress();
    return {
      name: request.name,
      state: this.#state,
      dryRun: request.dryRun,
      from: range.after,
      to: range.until,
      position: work.position,
      events: tally.events,
      skipped: work.skipped,
      retries: work.retries,
      progress,
      rate: duration === 0 ? 0 : (tally.events * 1_000) / duration,
      remaining: this.#remaining(progress, duration),
      duration,
    };
  }

  summary(): ReplaySummary {
    const { tally } = this.#options;
    const topKeys = tally.topKeys();
    return { ...this.status(), keys: tally.keys, topKeys, topTypes: tally.topTypes() };
  }

  async #run(): Promise<ReplaySummary> {
    const { work, log } = this.#options;
    try {
      await work.run();
      this.#end(work.isDone ? 'completed' : 'interrupted');
      log.info({ state: this.#state, position: work.position }, 'the replay has ended');
    } catch (error) {
      this.#end('failed');
      log.error({ err: errorFields(error), position: work.position }, 'the replay was stopped by an error');
      throw error;
    }
    return this.summary();
  }

  /** The one setter of the state. */
  #end(state: ReplayState): void {
    this.#state = state;
    this.#endedAt = performance.now();
  }

  #progress(): number | null {
    if (this.#state === 'completed') return 1;
    return this.#shareOf(this.#options.work.position);
  }

  #shareOf(position: Position): number | null {
    const { reader, range } = this.#options;
    const all = reader.bytesBetween(range.after, range.until);
    const done = reader.bytesBetween(range.after, position);
    if (all === null || done === null) return null;
    return all <= 0 ? 1 : Math.min(1, Math.max(0, done / all));
  }

  #remaining(progress: number | null, duration: number): number | null {
    if (this.#state === 'completed') return 0;
    const before = this.#shareOf(this.#options.start);
    if (progress === null || before === null || progress <= before) return null;
    return (duration * (1 - progress)) / (progress - before);
  }
}
