import { keyChooser, type KeyChoice } from './key-choice.js';

/** Some rows of a backlog, in its order: the arrays have one entry per row. */
export interface StagedRows {
  /** From 1 on. */
  readonly numbers: readonly number[];
  readonly keys: readonly number[];
  /** Within the key, from 1 on. */
  readonly ordinals: readonly number[];
}

/** Which row has which key, and its ordinal there, `size` rows at a time. */
export function* stagedRows(rows: number, choice: KeyChoice, size: number): Generator<StagedRows> {
  const keyOf = keyChooser(choice);
  const last = new Uint32Array(choice.keys);
  for (let first = 1; first <= rows; first += size) {
    const numbers = Array.from({ length: Math.min(size, rows - first + 1) }, (_, index) => first + index);
    const keys = numbers.map(keyOf);
    const ordinals = keys.map((key) => (last[key] = (last[key] ?? 0) + 1));
    yield { numbers, keys, ordinals };
  }
}
