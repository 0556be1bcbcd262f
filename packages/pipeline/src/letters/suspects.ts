import {
  identityOf,
  type CrashRecord,
  type DeadLetterStore,
  type Executor,
  type HandlerContext,
  type LetterFence,
  type Logger,
  type OutboxEvent,
} from '@strandline/core';
import type { BatchHandler, Handler, PipelineConfig } from '../config.js';
import type { Doubt } from '../doubt.js';
import { HandlerCrashError } from '../errors.js';
import { NOT_CALLED } from '../not-called.js';
import type { LettersAtHand } from './letters-at-hand.js';

/** Unclean ends in a row, at the same watermark, from which on the events there are suspects: a restart is none. */
const SUSPICIOUS = 3;

export interface SuspectsOptions {
  readonly store: DeadLetterStore;
  readonly fence: LetterFence;
  readonly letters: LettersAtHand;
  readonly executor: Executor;
  readonly crashes: CrashRecord;
  /** So many events are run alone: what an owner may have had in its window when it died. */
  readonly window: number;
  readonly doubt: Doubt;
  readonly log: Logger;
  /** Nobody is suspected any more. */
  readonly cleared: () => void;
}

/**
 * Finds the event whose handler ends the process. After several unclean ends in a row at the same place the events
 * there run one at a time, each noted before its handler is called; the one that is noted when the process ends again
 * is parked, with that as its evidence.
 */
export class Suspects {
  readonly #options: SuspectsOptions;
  #left: number;
  #convicted: string | null;
  /** Aborts when no handler may be called any more. */
  readonly #ended = new AbortController();

  constructor(options: SuspectsOptions) {
    const { crashes, window, log } = options;
    this.#options = options;
    this.#convicted = crashes.suspect;
    this.#left = crashes.suspect !== null || crashes.inARow >= SUSPICIOUS ? window : 0;
    if (this.#left > 0) {
      log.warn(
        { unclean: crashes.inARow, suspect: crashes.suspect },
        'the process has ended again and again at the same place: its events run one at a time, to find the one that ends it',
      );
    }
  }

  /** Events run one at a time. */
  get active(): boolean {
    return this.#left > 0;
  }

  /** The handler, watched while there are suspects. */
  watch({ handle, batch }: Pick<PipelineConfig, 'handle' | 'batch'>): Handler | BatchHandler {
    const watched = (head: OutboxEvent | undefined, call: () => unknown): unknown => {
      if (!this.active || head === undefined) return call();
      return this.alone(head, call).finally(() => {
        this.#count();
      });
    };
    return batch === undefined
      ? (event: OutboxEvent, ctx: HandlerContext) => watched(event, () => (handle as Handler)(event, ctx))
      : (events: readonly OutboxEvent[], ctx: HandlerContext) =>
          watched(events[0], () => (handle as BatchHandler)(events, ctx));
  }

  /** What is noted and was not called is not called any more. */
  abort(): void {
    this.#ended.abort();
  }

  /**
   * Calls the handler of an event that is known beforehand to be dangerous: it is noted meanwhile. `NOT_CALLED` when
   * the log may have become another owner's, or an operator has stopped the key, while it was being noted.
   */
  async alone(event: OutboxEvent, call: () => unknown): Promise<unknown> {
    const { store, fence, letters, executor, crashes, doubt } = this.#options;
    const identity = nameOf(event);
    if (identity === this.#convicted) {
      this.#convicted = null;
      throw new HandlerCrashError(crashes.inARow);
    }
    await letters.ask(() => store.suspect(fence, identity));
    try {
      await doubt.over(this.#ended.signal);
      if (this.#ended.signal.aborted || !executor.mayRun(event.key)) return NOT_CALLED;
      return await call();
    } finally {
      await letters.ask(() => store.suspect(fence, null));
    }
  }

  /** All that the log has was handled: nothing is left that could be suspected. */
  clear(): void {
    if (!this.active) return;
    this.#left = 0;
    this.#options.log.info({}, 'no event is suspected any more');
    this.#options.cleared();
  }

  #count(): void {
    this.#left -= 1;
    if (this.#left > 0) return;
    this.#left = 1;
    this.clear();
  }
}

/** What a suspect is noted by. */
export function nameOf(event: OutboxEvent): string {
  return JSON.stringify(identityOf(event));
}
