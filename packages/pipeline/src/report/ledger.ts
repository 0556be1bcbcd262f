import type { CommitResult, LetterReason } from '@strandline/core';
import type { PauseReason } from '../pause-reason.js';

/** Why an event was stored in the dead-letter table, and whether it holds its key there. */
export type StoredReason = LetterReason | 'skipped';

/**
 * What a pipeline has done in this process, over all its terms of ownership. Replays are not in it. Every number grows
 * and never falls.
 */
export interface Totals {
  /** Events that the log has brought and that were not settled before. */
  readonly admitted: number;
  /** Events that were settled: handled, or stored in the dead-letter table. */
  readonly settled: number;
  /** Events that the log has brought again, and that were known to be settled. */
  readonly duplicates: number;
  /** Turns that failed and were going to be tried again. */
  readonly retries: number;
  /** Turns that failed for good. */
  readonly exhausted: number;
  /** Turns that took longer than `handlerTimeout`. */
  readonly timeouts: number;
  readonly lettersStored: Readonly<Record<StoredReason, number>>;
  /** Letters of released keys that were handled. */
  readonly lettersHandled: number;
  readonly commits: Readonly<Record<CommitResult | 'failed', number>>;
  /** Seconds in which the log was not read on, by why. */
  readonly paused: Readonly<Record<PauseReason, number>>;
  /** Terms of ownership that have begun, and those that another process has ended. */
  readonly ownershipsGained: number;
  readonly ownershipsLost: number;
  /** How often the source has connected again. */
  readonly reconnects: number;
}

/** The counts that a term of ownership keeps anyway. */
export interface TermCounts {
  readonly executor: { readonly settled: number; readonly unsettled: number };
  readonly stream: { status(): { readonly reconnects: number } };
}

/** Keeps the totals. What a run counts for itself is read from there, and added up when its term is over. */
export class Ledger {
  duplicates = 0;
  retries = 0;
  exhausted = 0;
  timeouts = 0;
  lettersHandled = 0;
  ownershipsLost = 0;
  readonly lettersStored = { failed: 0, behind: 0, overflow: 0, crash: 0, operator: 0, skipped: 0 };
  readonly commits = { saved: 0, stale: 0, fenced: 0, restored: 0, failed: 0 };
  readonly #paused = { window: 0, handlers: 0, key: 0, offsets: 0, operator: 0 };
  #pause: { readonly reason: PauseReason; readonly since: number } | null = null;
  #ownershipsGained = 0;
  #before = { admitted: 0, settled: 0, reconnects: 0 };
  #term: TermCounts | null = null;

  begin(term: TermCounts): void {
    this.#term = term;
    this.#ownershipsGained += 1;
  }

  end(): void {
    this.pause(null);
    this.#before = this.#counts();
    this.#term = null;
  }

  /** The log is not read on from now on, or (null) it is. */
  pause(reason: PauseReason | null): void {
    const now = performance.now();
    if (this.#pause !== null) this.#paused[this.#pause.reason] += (now - this.#pause.since) / 1_000;
    this.#pause = reason === null ? null : { reason, since: now };
  }

  totals(): Totals {
    const { duplicates, retries, exhausted, timeouts, lettersHandled, ownershipsLost } = this;
    // What goes on is counted up to now.
    this.pause(this.#pause?.reason ?? null);
    return {
      ...this.#counts(),
      ...{ duplicates, retries, exhausted, timeouts, lettersHandled, ownershipsLost },
      lettersStored: { ...this.lettersStored },
      commits: { ...this.commits },
      paused: { ...this.#paused },
      ownershipsGained: this.#ownershipsGained,
    };
  }

  #counts(): { admitted: number; settled: number; reconnects: number } {
    const { admitted, settled, reconnects } = this.#before;
    if (this.#term === null) return this.#before;
    const { executor, stream } = this.#term;
    return {
      admitted: admitted + executor.settled + executor.unsettled,
      settled: settled + executor.settled,
      reconnects: reconnects + stream.status().reconnects,
    };
  }
}
