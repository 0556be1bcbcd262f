import type { OutboxEvent } from './event.js';
import type { FailureHistory } from './failure-history.js';
import type { Finding } from './finding.js';

/** Why an event could not be handled: what is kept of the error, without any payload. */
export interface LetterError {
  readonly name: string;
  readonly message: string;
  readonly code: string | null;
  /** Stack of the error and of its causes. */
  readonly stack: string;
}

/** What became of the attempts to handle an event. */
export interface Failure {
  /** What the last one failed with. */
  readonly error: LetterError;
  /** How many times the handler was called for the event; a letter that is released and fails again counts on. */
  readonly attempts: number;
  /** When the first and the last of those failed, ISO 8601 UTC. */
  readonly firstFailedAt: string;
  readonly lastFailedAt: string;
  /** What each of them failed with, in short. */
  readonly history: FailureHistory;
}

/** Why an event is in the table. */
export type LetterReason =
  /** Its handler failed for good. */
  | 'failed'
  /** It comes after one that is parked. */
  | 'behind'
  /** Its key had filled its share of the window. */
  | 'overflow'
  /** Its handler ended the process. */
  | 'crash'
  /** An operator has parked or skipped it by hand. */
  | 'operator';

/** What became of a letter: only `waiting` ones hold their key. */
export type LetterState = 'waiting' | 'handled' | 'skipped' | 'discarded';

/** One event in the dead-letter table. */
export interface DeadLetter {
  /** Its number in the table, as decimal text. */
  readonly id: string;
  /** Its place in its key's sequence. A head that is parked after its followers has a smaller one. */
  readonly place: number;
  /** The event in full, as it came from the source. */
  readonly event: OutboxEvent;
  readonly reason: LetterReason;
  readonly state: LetterState;
  /** The last failure; null for what was never tried. */
  readonly failure: Failure | null;
  readonly parkedAt: string;
}

/** A letter to store. */
export interface NewLetter {
  readonly event: OutboxEvent;
  readonly reason: LetterReason;
  readonly failure: Failure | null;
}

/** What a key in the table waits for. */
export type ParkedKeyState =
  /** For somebody, or for its schedule. */
  | 'parked'
  /** To be run: its letters in order, then it is live again. */
  | 'released';

export interface ParkedKey {
  readonly key: string;
  readonly state: ParkedKeyState;
  /** Letters that wait. */
  readonly letters: number;
  /**
   * Where the first of them lies in the log. What the log delivers again before that was handled before it, and is
   * handled again before it.
   */
  readonly position: string;
}

/** Who writes: a former owner of the pipeline is refused by its epoch. */
export interface LetterFence {
  readonly pipeline: string;
  readonly epoch: number;
}

/** How much may be in the table. */
export interface LetterLimits {
  /** Letters of one key that wait. */
  readonly perKey: number;
  /** Letters of a pipeline that wait or were skipped. */
  readonly inAll: number;
}

/**
 * What became of a write. `fenced`: a newer epoch owns the pipeline, nothing was written. `full`: a limit was
 * reached, nothing was written.
 */
export type LetterResult = 'stored' | 'fenced' | 'full';

/** What of the last unclean ends is known. */
export interface CrashRecord {
  /** The previous owner has not stopped in order. */
  readonly unclean: boolean;
  /** How many owners in a row have not, while the saved watermark stood still. */
  readonly inARow: number;
  /** The event that was run alone when the process ended, by its `identity`; null when none was. */
  readonly suspect: string | null;
}

/** What of the letters somebody asks for. */
export interface LetterFilter {
  readonly key?: string;
  readonly type?: string;
  /** A part of the error's name, code or message. */
  readonly error?: string;
  /** Milliseconds since it was parked, at least. */
  readonly olderThan?: number;
  readonly state?: LetterState;
}

/**
 * The owner's side of a dead-letter table. Each call is one transaction, fenced by the epoch: it is done as a whole
 * or not at all, and done once when it is repeated (a letter is the same by its event's transaction, ordinal and id).
 * What is handled stays in the table until the log is settled behind it, so that an event that the log delivers again
 * finds itself there. What an earlier owner has handled is another matter: the log delivers it again with what came
 * before it, and in that order it is handled again, so a letter that is stored again then waits again.
 *
 * Errors: `LETTERS_UNAVAILABLE` (transient) when the database can't be reached or did not answer in time,
 * `LETTERS_SCHEMA` when the table is not as it must be, `LETTERS_CONFIG` for wrong options.
 */
export interface DeadLetterStore {
  /** A short name for logs, without credentials. */
  readonly name: string;
  /**
   * Takes the table for this epoch, and tells the keys that have letters waiting, and what is known of crashes. A key
   * that has none is not parked any more, whatever state it was in.
   */
  claim(
    fence: LetterFence,
    watermark: string,
  ): Promise<{ readonly keys: readonly ParkedKey[]; readonly crashes: CrashRecord } | 'fenced'>;
  /**
   * Stores letters of one key, in their order, behind those that it has waiting, or in front of them. A key that had
   * none is `parked` by that, or `released` at once when they are there by `overflow`; one that `failed`, is a
   * `crash` or was parked by an `operator` parks it in any case.
   */
  park(
    fence: LetterFence,
    key: string,
    letters: readonly NewLetter[],
    where: 'behind' | 'front',
    limits: LetterLimits,
    /** When a key that is parked by this is released by itself, ISO 8601; by default it waits for somebody. */
    retryAt?: string | null,
  ): Promise<LetterResult>;
  /** Stores an event that holds nothing up, for somebody to look at. */
  skip(fence: LetterFence, letter: NewLetter, limits: LetterLimits): Promise<LetterResult>;
  /** The next letters of a key that wait, in their order: as many as memory can take at once; none for a former owner. */
  read(fence: LetterFence, key: string, limit: number): Promise<readonly DeadLetter[]>;
  /** Released letters of one key were handled; so they are even when they were skipped meanwhile. */
  handled(fence: LetterFence, letters: readonly DeadLetter[]): Promise<LetterResult>;
  /** A released letter failed again: its key waits again, until `retryAt` (ISO 8601) if there is a schedule. */
  failed(
    fence: LetterFence,
    letter: DeadLetter,
    failure: Failure,
    retryAt: string | null,
  ): Promise<LetterResult>;
  /** Ends the parking of a key that has no letter waiting; `false` when it has. */
  unpark(fence: LetterFence, key: string): Promise<boolean | 'fenced'>;
  /**
   * Keys that are released, by somebody or by their schedule: also such as were live (a letter that was skipped is put
   * back), or have nothing left (their letters were discarded). None for a former owner.
   */
  released(fence: LetterFence, limit: number): Promise<readonly string[]>;
  /** Forgets letters that were handled or discarded and whose positions are settled, at most `limit`; tells how many. */
  prune(fence: LetterFence, isSettled: (position: string) => boolean, limit: number): Promise<number>;
  /** Notes that an event is run alone now, or that none is. */
  suspect(fence: LetterFence, identity: string | null): Promise<'stored' | 'fenced'>;
  /** The owner stops in order. */
  release(fence: LetterFence): Promise<void>;
  /** The operator's side of the same table, with connections of its own: whoever opens it closes it. */
  desk(): DeadLetterDesk;
  /** Whether its tables are there or can be made, and how much of the limits is used. Touches nothing. */
  diagnose?(pipeline: string, limits: LetterLimits): Promise<readonly Finding[]>;
  close(): Promise<void>;
}

/** How much is in the table for a pipeline. */
export interface LetterCounts {
  /** Keys that have letters waiting. */
  readonly keys: number;
  readonly waiting: number;
  readonly skipped: number;
}

/** The operator's side of the same table, from any process. Each change is one transaction. */
export interface DeadLetterDesk {
  /**
   * Letters in the order in which they were stored. A page may be shorter than `limit`; the end is an empty one.
   * `after`: the id of the last letter of the page before.
   */
  list(
    pipeline: string,
    filter: LetterFilter,
    page: { readonly after: string | null; readonly limit: number },
  ): Promise<readonly DeadLetter[]>;
  show(pipeline: string, id: string): Promise<DeadLetter | null>;
  counts(pipeline: string): Promise<LetterCounts>;
  /**
   * Releases the keys of the letters that fit; those that were skipped wait again, behind what their keys have. Tells
   * the keys.
   */
  retry(pipeline: string, filter: LetterFilter): Promise<readonly string[]>;
  /**
   * Leaves the head of a key out, and releases the key. Tells the letter; null when none waits. `letter`: the number of
   * the one that is meant; when another one is the head by now nothing is done, and null is told.
   */
  skipHead(pipeline: string, key: string, letter?: string): Promise<DeadLetter | null>;
  /** Gives up all letters of a key that wait or were skipped, and releases it. Tells how many. */
  discard(pipeline: string, key: string): Promise<number>;
  close(): Promise<void>;
}
