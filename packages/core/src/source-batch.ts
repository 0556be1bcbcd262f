import type { OutboxEvent } from './event.js';
import type { Position } from './position.js';

/** What a source hands over at once: some events in commit order, and how far the log was read with them. */
export interface SourceBatch {
  readonly events: readonly OutboxEvent[];
  /**
   * Everything in the log up to here has been handed over, this batch's events included; null inside a
   * transaction. It moves the watermark past transactions and idle stretches that hold no event.
   */
  readonly passed: Position | null;
}
