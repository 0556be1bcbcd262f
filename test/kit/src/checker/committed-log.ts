/** One row of the outbox that committed. */
export interface CommittedRow {
  readonly id: string;
  readonly key: string;
  /** By which the server names the transaction: an xid, or a GTID. */
  readonly transaction: string;
}

/**
 * What committed, in commit order, by the database's own log, which a tool of the database's own reads. It shares no
 * code with what is tested, and knows also of commits whose answer never arrived.
 *
 * Each call of `rows` reads on from where the last one has ended, so it can be called often, and has to be called before
 * a log is thrown away.
 */
export abstract class CommittedLog {
  readonly #rows: CommittedRow[] = [];
  #reading: Promise<void> = Promise.resolve();

  /** All rows up to now. When it rejects, nothing of that reading counts, and the next call reads it again. */
  async rows(): Promise<readonly CommittedRow[]> {
    // One after the other: two that read at once would both add the same rows.
    const reading = this.#reading.then(async () => {
      this.#rows.push(...(await this.read()));
    });
    this.#reading = reading.catch(() => undefined);
    await reading;
    return this.#rows;
  }

  /** What has committed since the last call that resolved. */
  protected abstract read(): Promise<readonly CommittedRow[]>;
}
