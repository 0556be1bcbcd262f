import type { Offset, Position, PositionRange } from '@strandline/core';

/**
 * Knows what an earlier owner had settled, while the log is read again from the watermark on. Its ranges are
 * in the source's order and the stream comes in the source's order, so each range is looked at until the
 * stream has passed it and never again.
 */
export class AlreadySettled {
  readonly #compare: (a: Position, b: Position) => number;
  readonly #watermark: Position;
  readonly #ranges: readonly PositionRange[];
  /** The first range that the stream has not passed. */
  #next = 0;
  /** The stream stands inside that range. */
  #inside = false;
  #behindWatermark = true;

  constructor(offset: Offset, compare: (a: Position, b: Position) => number) {
    this.#compare = compare;
    this.#watermark = offset.watermark;
    this.#ranges = offset.completed;
  }

  /** Ranges that the stream has not passed: they still belong to the completed set. */
  get remaining(): readonly PositionRange[] {
    return this.#ranges.slice(this.#next);
  }

  /**
   * The completed set to save: what this owner has settled above the watermark, and what an earlier one had
   * settled further on. Where the stream stands inside a range of the latter, the newest run of the former is
   * the part of it that was passed: the two are one. No position is compared for this: a source may order only
   * those that it has just handed over.
   */
  joinedTo(own: readonly PositionRange[]): readonly PositionRange[] {
    const rest = this.remaining;
    const [next] = rest;
    const newest = own.at(-1);
    if (!this.#inside || next === undefined || newest === undefined) return [...own, ...rest];
    return [...own.slice(0, -1), { first: newest.first, last: next.last }, ...rest.slice(1)];
  }

  /** The stream has passed all that is known: whatever comes next is new. */
  get passed(): boolean {
    return !this.#behindWatermark && this.#next === this.#ranges.length;
  }

  /**
   * What is known of the next position of the stream:
   * `behind` the watermark it was counted before; `settled` above it, it counts now and needs no work.
   */
  lookUp(position: Position): 'behind' | 'settled' | 'new' {
    if (this.#behindWatermark) {
      if (this.#compare(position, this.#watermark) <= 0) return 'behind';
      this.#behindWatermark = false;
    }
    for (;;) {
      const range = this.#ranges[this.#next];
      if (range === undefined || this.#compare(position, range.first) < 0) return 'new';
      const place = this.#compare(position, range.last);
      this.#inside = place < 0;
      if (!this.#inside) this.#next += 1;
      if (place <= 0) return 'settled';
    }
  }
}
