import {
  StrandlineError,
  type CommitResult,
  type Executor,
  type Logger,
  type Offset,
  type Position,
  type PositionRange,
  type SourceIdentity,
} from '@strandline/core';
import type { PipelineConfig } from './config.js';
import { errorFields } from './error-fields.js';

export interface CommitLoopOptions {
  readonly config: PipelineConfig;
  readonly executor: Executor;
  /** As it was claimed. */
  readonly offset: Offset;
  readonly identity: () => SourceIdentity;
  /** What is settled above the watermark, by this owner and by earlier ones. */
  readonly completed: () => readonly PositionRange[];
  /** What committed before this time is settled now; null while it isn't known. */
  readonly settledBefore: () => string | null;
  readonly log: Logger;
  /** The offset is saved up to here: the log may be released. And what committed before that time is settled in it. */
  readonly saved: (watermark: Position, settledBefore: string | null) => void;
  /** A newer owner was found, or the store is beyond repair: the run is over. */
  readonly failed: (error: unknown) => void;
  readonly fenced: () => void;
}

/**
 * Saves the offset while it moves: one commit at a time, every `commitInterval`. A store that is away is tried
 * again at every interval; what was settled and could not be saved counts against the window.
 */
export class CommitLoop {
  readonly #options: CommitLoopOptions;
  #timer: NodeJS.Timeout | undefined;
  #pending: Promise<void> | null = null;
  #stopped = false;
  #revision: number;
  #savedWatermark: Position;
  #savedSettled = 0;
  readonly #hurryAt: number;
  #available = true;

  constructor(options: CommitLoopOptions) {
    this.#options = options;
    this.#revision = options.offset.revision;
    this.#savedWatermark = options.offset.watermark;
    this.#hurryAt = Math.ceil(options.config.window.events / 2);
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      void this.#commit().then(() => {
        this.start();
      });
    }, this.#options.config.commitInterval);
  }

  /** Events that are settled and not saved: a crash now would deliver them again. */
  get unsaved(): number {
    return this.#options.executor.settled - this.#savedSettled;
  }

  /** How many of the events that were settled are saved. */
  get savedSettled(): number {
    return this.#savedSettled;
  }

  /** Commits before the interval is over when much has settled: what a crash delivers again stays bounded. */
  hurry(): void {
    if (this.#available && this.#pending === null && !this.#stopped && this.unsaved >= this.#hurryAt)
      void this.#commit();
  }

  get available(): boolean {
    return this.#available;
  }

  get watermark(): Position {
    return this.#savedWatermark;
  }

  /** Stops the loop and saves what is left; resolves also when that fails, which is logged. */
  async finish(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#commit();
  }

  async #commit(): Promise<void> {
    // One at a time, whoever asks. Several may have waited for the same one, and without one under way there
    // must be none by the time the next event settles: so it is looked at again, and awaited only if it is there.
    while (this.#pending !== null) await this.#pending;
    const { executor } = this.#options;
    const { watermark, settled } = executor;
    if (watermark === this.#savedWatermark && settled === this.#savedSettled) return;
    this.#pending = this.#save(watermark, settled).finally(() => {
      this.#pending = null;
    });
    await this.#pending;
  }

  async #save(watermark: Position, settled: number): Promise<void> {
    const { config, offset, completed } = this.#options;
    const settledBefore = this.#options.settledBefore();
    this.#revision += 1;
    try {
      const result = await config.offsets.commit(config.name, {
        identity: this.#options.identity(),
        watermark,
        completed: completed(),
        epoch: offset.epoch,
        revision: this.#revision,
        savedAt: new Date().toISOString(),
      });
      if (this.#conclude(result, watermark, settled)) this.#options.saved(watermark, settledBefore);
    } catch (error) {
      this.#onError(error);
    }
  }

  /** Whether it is saved. */
  #conclude(result: CommitResult, watermark: Position, settled: number): boolean {
    const { log } = this.#options;
    if (!this.#available) log.info({ watermark }, 'the offset store is back');
    this.#available = true;
    if (result === 'fenced') {
      this.#options.fenced();
      return false;
    }
    // A revision of ours that was thought lost came through, and a newer one than this: the next commit tells.
    if (result === 'stale') return false;
    if (result === 'restored')
      log.warn({ watermark }, 'the offset store had lost the offset: it was written anew');
    this.#savedWatermark = watermark;
    this.#savedSettled = settled;
    return true;
  }

  #onError(error: unknown): void {
    if (!isRetried(error)) {
      this.#options.failed(error);
      return;
    }
    const fields = { err: errorFields(error) };
    if (this.#stopped) {
      this.#options.log.warn(fields, 'the last offset can not be saved: what it held is delivered again');
    } else if (this.#available) {
      this.#options.log.warn(
        fields,
        'the offset can not be saved: working on within the window, and trying again',
      );
    }
    this.#available = false;
  }
}

/** An operator can put credentials right while the pipeline runs; a corrupt or a wrong store stays what it is. */
export function isRetried(error: unknown): boolean {
  return error instanceof StrandlineError && (error.transient || error.code === 'OFFSETS_AUTH');
}
