/** Rounds. */
const MOST_LEFT_OUT = 15;

/**
 * When partitions are tried, from round to round. Each try at a table that is in use has its writers queue up behind it for
 * as long as it waits: so after one that was in vain they are left alone for a round, then for three, seven, and fifteen.
 */
export class PartitionTries {
  #inVain = 0;
  #leftOut = 0;

  /** Whether a round tries; to be asked once in each. */
  begin(): boolean {
    if (this.#leftOut === 0) return true;
    this.#leftOut -= 1;
    return false;
  }

  locked(): void {
    this.#inVain += 1;
    this.#leftOut = Math.min(MOST_LEFT_OUT, 2 ** this.#inVain - 1);
  }

  succeeded(): void {
    this.#inVain = 0;
  }
}
