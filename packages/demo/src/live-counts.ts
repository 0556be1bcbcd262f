import type pg from 'pg';
import { queryOne } from './database.js';
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

const QUERY = `
  WITH done AS (SELECT outbox_id AS id, count(*) AS deliveries FROM handled GROUP BY outbox_id),
       furthest AS (SELECT order_id, max(version) AS version FROM outbox JOIN done USING (id) GROUP BY order_id)
  SELECT count(*)::int AS committed,
         count(done.id)::int AS handled,
         coalesce(sum(done.deliveries - 1), 0)::int AS duplicates,
         (count(*) FILTER (WHERE done.id IS NULL AND outbox.version < furthest.version))::int AS jumped_over,
         (count(*) FILTER (WHERE outbox.id <= $1))::int AS below_cursor
  FROM outbox LEFT JOIN done USING (id) LEFT JOIN furthest USING (order_id)
`;

interface CountsRow {
  readonly committed: number;
  readonly handled: number;
  readonly duplicates: number;
  readonly jumped_over: number;
  readonly below_cursor: number;
}

export async function readLiveCounts(pool: pg.Pool, cursor: IdCursor): Promise<LiveCounts> {
  // Taken before the query, so that a poll in between can't make rows look missed.
  const { highestId, seen } = cursor;
  const row = await queryOne<CountsRow>(pool, QUERY, [highestId]);
  return {
    committed: row.committed,
    handled: row.handled,
    duplicates: row.duplicates,
    strandlineMissed: row.jumped_over,
    seen,
    cursorMissed: row.below_cursor - seen,
  };
}
