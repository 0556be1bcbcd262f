import type { OutboxPruner, RowKey } from '@strandline/core';

type Looking = Pick<OutboxPruner, 'look'>;

/** Rows that are held at once while it is waited for that all have settled them: some megabytes. */
const HELD = 50_000;
/** Rows in a row that are looked at in vain before the rest is left to the next round. */
const IN_VAIN = 100_000;

/**
 * Finds rows that are old. Each search begins at the beginning, since a transaction that commits late can have the smallest
 * key. Where no index knows the age of rows, and the beginning has no old ones, it goes through the rest a stretch at
 * a time, from search to search.
 */
export class Candidates {
  readonly #inVain: number;
  /** Where the next stretch begins. */
  #rest: RowKey | null = null;

  /** @param thorough each search goes through all of the table */
  constructor(thorough = false) {
    this.#inVain = thorough ? Infinity : IN_VAIN;
  }

  async find(pruner: Looking): Promise<readonly RowKey[]> {
    const front = await this.#search(pruner, null);
    if (front.found.length > 0 || front.last === null) return front.found;
    const rest = await this.#search(pruner, this.#rest ?? front.last);
    this.#rest = rest.last;
    return rest.found;
  }

  async #search(
    pruner: Looking,
    from: RowKey | null,
  ): Promise<{ found: readonly RowKey[]; last: RowKey | null }> {
    const found: RowKey[] = [];
    let last = from;
    for (let inVain = 0; found.length < HELD && inVain < this.#inVain;) {
      const look = await pruner.look(last, HELD - found.length);
      for (const key of look.old) found.push(key);
      inVain = look.old.length > 0 ? 0 : inVain + look.looked;
      last = look.last;
      if (last === null) break;
    }
    return { found, last };
  }
}
