import type { RowsPerKey } from '../databases/bench-database.js';
import { FaultError } from './check.js';
import type { Handled } from './handled-file.js';

/**
 * What at-least-once allows after a kill: a key sees a suffix of its rows again, in order, and never a gap or a swap.
 * Follows what the two processes handled, one after the other.
 */
export class TwoLives {
  readonly #handled: Uint32Array;
  /** What the process that lives now has handled last, by key; 0 for nothing yet. */
  #last: Uint32Array;
  readonly #faults: string[] = [];
  #seen = 0;
  #duplicates = 0;

  constructor(keys: number) {
    this.#handled = new Uint32Array(keys);
    this.#last = new Uint32Array(keys);
  }

  /** Different rows that were handled. */
  get seen(): number {
    return this.#seen;
  }

  /** Handled again. */
  get duplicates(): number {
    return this.#duplicates;
  }

  /** Whether it was the first time. */
  take({ key, ordinal }: Handled): boolean {
    const handled = this.#handled[key] ?? 0;
    const last = this.#last[key] ?? 0;
    // The first row of a key in a life may be one that was handled before, the next one always follows.
    const follows = last === 0 ? ordinal >= 1 && ordinal <= handled + 1 : ordinal === last + 1;
    if (!follows)
      this.#faults.push(`key ${String(key)}: row ${String(ordinal)} after ${String(last || handled)}`);
    this.#last[key] = ordinal;
    if (ordinal <= handled) {
      this.#duplicates += 1;
      return false;
    }
    this.#handled[key] = ordinal;
    this.#seen += 1;
    return true;
  }

  /** The first process is gone. */
  nextLife(): void {
    this.#last = new Uint32Array(this.#last.length);
  }

  /** Throws a FaultError when something is missing or was out of order. */
  check(what: string, expected: RowsPerKey): void {
    const missing = expected.reduce(
      (sum, rows, key) => sum + Math.max(0, rows - (this.#handled[key] ?? 0)),
      0,
    );
    const problems = this.#faults.slice(0, 3);
    if (missing > 0) problems.push(`${String(missing)} rows were not handled`);
    if (problems.length > 0) throw new FaultError(`${what}: ${problems.join('; ')}.`);
  }
}
