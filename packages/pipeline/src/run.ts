import {
  Executor,
  OwnershipLostError,
  type Logger,
  type SourceBatch,
  type SourceStream,
} from '@strandline/core';
import { AlreadySettled } from './already-settled.js';
import { CommitLoop } from './commit-loop.js';
import type { PipelineConfig } from './config.js';
import { Dispatcher } from './dispatcher.js';

/**
 * Places of the window that must be free before admission goes on: it saves a wake-up per event. Small beside
 * the window, so that keys that hold most of it leave the rest to the others.
 */
const HYSTERESIS = 64;
/** Milliseconds that handlers get after their signal was aborted. */
const ABORT_GRACE = 5_000;
/** Milliseconds of standstill after which a full window is reported. */
const STANDSTILL = 2_000;

/** Why the log is not being read on. */
export type PauseReason =
  /** As much is admitted and not settled as the window allows. */
  | 'window'
  /** As much is settled and not saved as the window allows: the offset store is away. */
  | 'offsets';

export interface RunOptions {
  readonly config: PipelineConfig;
  readonly stream: SourceStream;
  readonly log: Logger;
}

/**
 * One term of ownership: from a claimed offset until the log ends, the pipeline stops, or a newer owner is
 * found. The way of an event leads through here: stream → executor → handler → watermark → offset → log.
 */
export class Run {
  readonly executor: Executor;
  readonly commits: CommitLoop;
  readonly #options: RunOptions;
  readonly #dispatcher: Dispatcher;
  readonly #settledBefore: AlreadySettled;
  /** Called when a wait should look again: room appeared, or the run is ending. */
  #wake: (() => void) | null = null;
  #paused: PauseReason | null = null;
  /** Set when the run shall end: by `stop`, by a fault, or by the loss of ownership. */
  #end: { readonly error: unknown } | null = null;

  constructor(options: RunOptions) {
    const { config, stream, log } = options;
    const { offset } = stream;
    this.#options = options;
    this.#settledBefore = new AlreadySettled(offset, (a, b) => stream.compare(a, b));
    this.executor = new Executor({
      start: offset.watermark,
      concurrency: config.concurrency,
      batch: config.batch?.max ?? 1,
      retry: config.retry,
      random: Math.random,
    });
    this.#dispatcher = new Dispatcher({
      executor: this.executor,
      config,
      log,
      settled: () => {
        this.#onSettled();
      },
    });
    this.commits = new CommitLoop({
      config,
      executor: this.executor,
      offset,
      identity: () => stream.identity,
      completed: () => this.#settledBefore.joinedTo(this.executor.completed()),
      log,
      saved: (watermark) => {
        stream.confirm(watermark);
        this.#look();
      },
      failed: (error) => {
        this.#endWith(error);
      },
      fenced: () => {
        const lost = new OwnershipLostError('A newer owner has claimed the offset of this pipeline.');
        this.#endWith(lost);
        // Also when the run was ending anyhow: the handlers that it waits for must not go on beside the owner's.
        this.#dispatcher.abort(lost);
      },
    });
  }

  get stream(): SourceStream {
    return this.#options.stream;
  }

  get paused(): PauseReason | null {
    return this.#paused;
  }

  /** Whether the caller is a handler, before its first await. */
  get insideHandler(): boolean {
    return this.#dispatcher.calling;
  }

  /** Stops reading and starting turns; `run` does the rest. */
  stop(): void {
    this.#endWith(null);
  }

  /**
   * Reads until the run ends; then finishes what is in flight, saves the offset and releases the log. Rejects
   * with what ended it, if that was not `stop`.
   */
  async run(): Promise<void> {
    this.commits.start();
    try {
      await this.#readAll();
    } catch (error) {
      this.#end ??= { error };
    }
    const { error } = this.#end ?? { error: null };
    if (error instanceof OwnershipLostError) await this.#abandon(error);
    else await this.#finish();
    // What a source or store threw is passed on as it is.
    // eslint-disable-next-line @typescript-eslint/only-throw-error
    if (error !== null) throw error;
  }

  async #readAll(): Promise<void> {
    const batches = this.stream.read()[Symbol.asyncIterator]();
    while (this.#end === null) {
      const next = await this.#orWoken(batches.next());
      if (next === null) continue;
      if (next.done === true) return;
      await this.#admit(next.value);
    }
  }

  /** What the promise resolves to, or null when the run is to end before it does. */
  #orWoken<T>(promise: Promise<T>): Promise<T | null> {
    // A race against one promise for the whole run would keep a reaction of every batch.
    return new Promise((resolve, reject) => {
      this.#wake = () => {
        if (this.#end !== null) resolve(null);
      };
      promise.then(resolve, reject);
    });
  }

  async #admit(batch: SourceBatch): Promise<void> {
    for (const event of batch.events) {
      const known = this.#settledBefore.lookUp(event.position);
      if (known === 'settled') this.executor.pass(event.position);
      if (known !== 'new') continue;
      if (this.#lacking(0) !== null) {
        await this.#room();
        if (this.#end !== null) return;
      }
      this.executor.admit(event);
    }
    if (batch.passed !== null && this.#settledBefore.lookUp(batch.passed) !== 'behind') {
      this.executor.pass(batch.passed);
    }
    this.#dispatcher.pump();
  }

  /** What the window lacks for one more event, with some places to spare. */
  #lacking(spare: number): PauseReason | null {
    const { window } = this.#options.config;
    const { executor } = this;
    if (executor.unsettled + spare >= window.events || executor.bytes >= window.bytes) {
      // A single event larger than the window must still pass.
      if (executor.unsettled > 0) return 'window';
    }
    return this.commits.unsaved >= window.events ? 'offsets' : null;
  }

  async #room(): Promise<void> {
    const { window } = this.#options.config;
    const spare = Math.min(HYSTERESIS, Math.floor(window.events / 8));
    this.#paused = this.#lacking(0);
    this.#dispatcher.pump();
    const report = setTimeout(() => {
      this.#reportStandstill();
    }, STANDSTILL);
    await new Promise<void>((resolve) => {
      this.#wake = () => {
        const lacking = this.#lacking(spare);
        if (this.#end !== null || lacking === null) resolve();
        else this.#paused = lacking;
      };
      this.#wake();
    });
    clearTimeout(report);
    this.#wake = null;
    this.#paused = null;
  }

  #reportStandstill(): void {
    const { log } = this.#options;
    const { halted, unsettled, bytes } = this.executor.counts();
    if (this.#paused === 'offsets') {
      log.warn(
        { unsaved: this.commits.unsaved },
        'paused: the offset store is away, and no more may be settled unsaved',
      );
    } else if (halted > 0) {
      log.warn({ halted, unsettled, bytes }, 'paused: the window is full, and halted keys hold places in it');
    }
  }

  #onSettled(): void {
    this.commits.hurry();
    this.#look();
  }

  #look(): void {
    this.#wake?.();
  }

  #endWith(error: unknown): void {
    if (this.#end !== null) return;
    this.#end = { error };
    this.#dispatcher.stopTaking();
    this.#look();
  }

  async #finish(): Promise<void> {
    const { config, log } = this.#options;
    // After a fault of the log what was admitted before it is still delivered: `#endWith` was not called then.
    this.#dispatcher.pump();
    let idle = await within(config.drainTimeout, this.#dispatcher.idle());
    if (!idle) {
      this.#dispatcher.stopTaking();
      this.#dispatcher.abort(new Error('The pipeline stops, and the time to drain is over'));
      idle = await within(ABORT_GRACE, this.#dispatcher.idle());
    }
    if (!idle) {
      const keys = this.#dispatcher.runningKeys().slice(0, 10);
      log.warn({ keys }, 'handlers did not end in time: their events will be delivered again');
    }
    this.#dispatcher.stopTaking();
    await this.commits.finish();
    await this.stream.close();
  }

  /** Somebody else may be running these keys by now: tell the handlers, and wait until the last one has ended. */
  async #abandon(error: OwnershipLostError): Promise<void> {
    this.commits.abandon();
    this.#dispatcher.stopTaking();
    this.#dispatcher.abort(error);
    await this.stream.close();
    const { config, log } = this.#options;
    if (await within(config.drainTimeout, this.#dispatcher.idle())) return;
    const keys = this.#dispatcher.runningKeys().slice(0, 10);
    log.warn(
      { keys },
      'handlers do not heed their signal: this process can not stand by before they have ended',
    );
    await this.#dispatcher.idle();
  }
}

/** Whether the promise resolved in time. */
async function within(milliseconds: number, promise: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, milliseconds, false);
  });
  const inTime = await Promise.race([promise.then(() => true as const), late]);
  clearTimeout(timer);
  return inTime;
}
