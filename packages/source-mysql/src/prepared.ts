import { HELD, type Group, type HeldRows } from './group.js';
import type { HistoryMark } from './gtids.js';
import type { LogPlace } from './log-place.js';
import type { Dropped, GroupPlace } from './reading.js';
import { placeOf } from './transaction-position.js';

/** An XA transaction that was prepared and is not decided yet. */
export interface Prepared extends GroupPlace {
  /** Null when there are too many to hold. */
  readonly rows: readonly HeldRows[] | null;
  readonly dropped: Dropped;
  readonly count: number;
  readonly before: HistoryMark | null;
}

/** Those with rows of the outbox, by their xid. Together they hold as many rows as one transaction may. */
export class PreparedTransactions {
  /** In the order in which they were read. */
  readonly #byXid = new Map<string, Prepared>();
  #rows = 0;

  add(xid: string, { gtid, at, before, count, dropped, overflown, rows }: Group): void {
    const isHeld = !overflown && this.#rows + count <= HELD.rows;
    if (isHeld) this.#rows += count;
    this.#byXid.set(xid, { gtid, at, before, count, dropped, rows: isHeld ? rows : null });
  }

  get(xid: string): Prepared | undefined {
    return this.#byXid.get(xid);
  }

  delete(xid: string): void {
    const prepared = this.#byXid.get(xid);
    if (prepared === undefined) return;
    this.#byXid.delete(xid);
    if (prepared.rows !== null) this.#rows -= prepared.count;
  }

  get oldest(): Prepared | null {
    if (this.#byXid.size === 0) return null;
    const [oldest] = this.#byXid.values();
    return oldest ?? null;
  }

  /** Where reading must resume for their sake; null when there are none. */
  get resumeAt(): LogPlace | null {
    const { oldest } = this;
    return oldest === null ? null : placeOf(oldest);
  }
}
