import type { Offset, Position, PositionRange } from '@strandline/core';

/**
 * Knows what an earlier owner had settled, while the log is read again from the watermark on. Its ranges are
 * in the source's order and the stream comes in the source's order, so each range is looked at until the
 * stream has passed it and never again.
 */
export class AlreadySettled {
  readonly #compare: (a: Position, b: Position) => number;
  readonly #watermark: Position;
  #ranges: readonly PositionRange[];
  #behindWatermark = true;

  constructor(offset: Offset, compare: (a: Position, b: Position) => number) {
    this.#compare = compare;
    this.#watermark = offset.watermark;
    this.#ranges = offset.completed;
  }

  /** Ranges that the stream has not passed: they still belong to the completed set. */
  get remaining(): readonly PositionRange[] {
    return this.#ranges;
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
      const [range] = this.#ranges;
      if (range === undefined || this.#compare(position, range.first) < 0) return 'new';
      if (this.#compare(position, range.last) <= 0) return 'settled';
      this.#ranges = this.#ranges.slice(1);
    }
  }
}
