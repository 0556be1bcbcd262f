/** One row to insert. */
export interface OutboxRow {
  /** The database numbers the rows of a statement whose first one has none. */
  readonly id?: string;
  readonly key: string;
  readonly payload?: string;
}

/** Rows for a list of keys, in that order. */
export function rowsOf(...keys: readonly string[]): OutboxRow[] {
  return keys.map((key) => ({ key }));
}

/** `count` rows over `keys` keys in turn: k0, k1, …, k0, … */
export function rowsInTurn(count: number, keys: number): OutboxRow[] {
  return Array.from({ length: count }, (_, index) => ({ key: `k${String(index % keys)}` }));
}
