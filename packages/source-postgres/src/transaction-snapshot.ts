/** 2^32: transaction ids in the log are the low half of the server's 64-bit ids. */
const XID_SPAN = 0x1_0000_0000;

/**
 * A transaction snapshot as `pg_current_snapshot()` prints it: `xmin:xmax:xip,xip,…`. A committed transaction
 * is visible to whoever took it, and to every snapshot taken later, when its id is below xmin, or below xmax
 * and not in the list of those in progress.
 */
export class TransactionSnapshot {
  readonly #xmin: number;
  readonly #xmax: number;
  readonly #inProgress: ReadonlySet<number>;

  /** @throws TypeError for anything but a snapshot */
  constructor(readonly text: string) {
    const [xmin = '', xmax = '', list = ''] = text.split(':');
    this.#xmin = Number(xmin);
    this.#xmax = Number(xmax);
    this.#inProgress = new Set(list === '' ? [] : list.split(',').map(Number));
    if (!/^\d+:\d+:[\d,]*$/.test(text)) throw new TypeError(`not a transaction snapshot: ${text}`);
  }

  /** @param xid the low 32 bits of a transaction id, as the log and `xmin` have it */
  covers(xid: number): boolean {
    const full = this.#widen(xid);
    return full < this.#xmin || (full < this.#xmax && !this.#inProgress.has(full));
  }

  /** The 64-bit id with these low bits that is nearest to the snapshot's xmax. */
  #widen(xid: number): number {
    const base = this.#xmax - (this.#xmax % XID_SPAN) + xid;
    if (base - this.#xmax > XID_SPAN / 2) return base - XID_SPAN;
    if (this.#xmax - base > XID_SPAN / 2) return base + XID_SPAN;
    return base;
  }
}
