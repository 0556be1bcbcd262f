/** One row that committed, with what is known of it. Rows are given in commit order. */
export interface Committed {
  readonly id: string;
  readonly key: string;
  /** Where an event of it has to say that it lies. */
  readonly position?: string;
  readonly transaction?: string;
}

/** A committed row, with its places. */
export interface Placed extends Committed {
  /** Among all rows, from 1 on. */
  readonly number: number;
  /** Among the rows of its key, from 0 on. */
  readonly place: number;
}

/** The commit order, over all and key by key. */
export class CommitOrder {
  readonly rows: readonly Placed[];
  readonly #byId = new Map<string, Placed>();
  readonly #byKey = new Map<string, Placed[]>();

  constructor(committed: readonly Committed[]) {
    this.rows = committed.map((row, index) => {
      if (this.#byId.has(row.id))
        throw new Error(`The id ${row.id} has committed twice: then ids can't tell events apart.`);
      const ofKey = this.#byKey.get(row.key) ?? [];
      const placed = { ...row, number: index + 1, place: ofKey.length };
      this.#byKey.set(row.key, ofKey);
      this.#byId.set(row.id, placed);
      ofKey.push(placed);
      return placed;
    });
  }

  row(id: string): Placed | undefined {
    return this.#byId.get(id);
  }

  /** The rows of a key; by their place. */
  ofKey(key: string): readonly Placed[] {
    return this.#byKey.get(key) ?? [];
  }
}
