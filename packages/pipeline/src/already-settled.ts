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
   * settled further on. The stream may stand inside a range of the latter; the two are then one.
   */
  joinedTo(own: readonly PositionRange[], watermark: Position): PositionRange[] {
    const rest = this.remaining.filter(
      (range, index) => index > 0 || this.#compare(range.last, watermark) > 0,
    );
    const [next] = rest;
    const newest = own.at(-1);
    if (next === undefined || newest === undefined || this.#compare(newest.last, next.first) < 0) {
      return [...own, ...rest];
    }
    const last = this.#compare(newest.last, next.last) < 0 ? next.last : newest.last;
    return [...own.slice(0, -1), { first: newest.first, last }, ...rest.slice(1)];
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
      if (this.#compare(position, range.last) <= 0) return 'settled';
      this.#next += 1;
    }
  }
}
