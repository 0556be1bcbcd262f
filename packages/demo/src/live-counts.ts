import type { ShopDatabase } from './database/shop-database.js';
import type { IdCursor } from './id-cursor.js';

/** What the view shows while the demo runs. The verdict at the end is the checker's, not this. */
export interface LiveCounts {
  readonly committed: number;
  /** Distinct events that Strandline's handler has recorded. */
  readonly handled: number;
  /** Deliveries beyond the first of each event. */
  readonly duplicates: number;
  /** Events of an order that Strandline has not handled although it has handled a later one of that order. */
  readonly strandlineMissed: number;
  readonly seen: number;
  /** Rows in the outbox that lie below the cursor and that it has not seen: it will never look there again. */
  readonly cursorMissed: number;
}

export const NO_COUNTS: LiveCounts = {
  committed: 0,
  handled: 0,
  duplicates: 0,
  strandlineMissed: 0,
  seen: 0,
  cursorMissed: 0,
};

export async function readLiveCounts(shop: ShopDatabase, cursor: IdCursor): Promise<LiveCounts> {
  // Taken before the query, so that a poll in between can't make rows look missed.
  const { highestId, seen } = cursor;
  const { committed, handled, duplicates, jumpedOver, upToCursor } = await shop.counts(highestId);
  return {
    committed,
    handled,
    duplicates,
    strandlineMissed: jumpedOver,
    seen,
    cursorMissed: upToCursor - seen,
  };
}
