import type { LogPlace } from './log-place.js';
import type { FilePosition } from './position.js';

/** A transaction in the log. */
export interface GroupPlace {
  /** Empty without GTIDs. */
  readonly gtid: string;
  readonly at: FilePosition;
}

/** Which rows of a transaction, by their place among all that it has, a rollback to a savepoint took back: [from, to). */
export type Dropped = readonly (readonly [number, number])[];

/** How a transaction ended, that is read again from its start. */
export interface Proven {
  readonly group: GroupPlace;
  readonly dropped: Dropped;
  /** For what was prepared by XA: the transaction that decided it. */
  readonly decision: Decision | null;
}

/** The transaction (XA COMMIT) that made the rows of another one, which was prepared before it, count. */
export interface Decision {
  readonly group: GroupPlace;
  readonly executed: string;
  readonly timestamp: number;
  /** Where reading must resume while it is under way. */
  readonly from: LogPlace;
  /** Where it ends. */
  readonly end: FilePosition;
  /** What is read behind it. */
  readonly next: Reading;
  /** Where reading must resume then. */
  readonly later: LogPlace | null;
}

/** What to read, and what of it was handed over before. */
export interface Reading {
  readonly start: LogPlace;
  /** Nothing is handed over before this transaction, whose rows are handed over as they come. */
  readonly proven: Proven | null;
  /** Nothing is handed over up to and with this transaction. */
  readonly behind: GroupPlace | null;
}

export function isSame(a: GroupPlace, b: GroupPlace): boolean {
  if (a.gtid !== '' || b.gtid !== '') return a.gtid === b.gtid;
  return a.at.file === b.at.file && a.at.offset === b.at.offset;
}

/** Only the place of something that has more. */
export function bare({ gtid, at }: GroupPlace): GroupPlace {
  return { gtid, at };
}
