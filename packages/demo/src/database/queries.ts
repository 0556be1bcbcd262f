import type { CommittedEvent } from '../checker.js';
import type { HandledDelivery, OutboxEvent, ShopCounts } from './shop-database.js';

/** The queries that read the same in every SQL, and what their rows mean: what is counted is counted in one way. */

export const COMMITTED = 'SELECT order_id, id, type FROM outbox ORDER BY order_id, version';

/**
 * By life first: a statement that was under way when its client was killed may still be carried out a moment later,
 * and belongs to the life that sent it.
 */
export const HANDLED = 'SELECT order_id, outbox_id AS id, run, attempt, alone FROM handled ORDER BY run, seq';

export const POLLED = 'SELECT order_id, outbox_id AS id FROM polled ORDER BY seq';

/** @param cursorId the placeholder of the parameter, as the driver writes it. */
export const countsQuery = (cursorId: string): string => `
  WITH done AS (SELECT outbox_id AS id, count(*) AS deliveries FROM handled GROUP BY outbox_id),
       furthest AS (SELECT order_id, max(version) AS version FROM outbox JOIN done USING (id) GROUP BY order_id)
  SELECT count(*) AS committed,
         count(done.id) AS handled,
         sum(done.deliveries) AS deliveries,
         count(CASE WHEN done.id IS NULL AND outbox.version < furthest.version THEN 1 END) AS jumped_over,
         count(CASE WHEN outbox.id <= ${cursorId} THEN 1 END) AS up_to_cursor
  FROM outbox LEFT JOIN done USING (id) LEFT JOIN furthest USING (order_id)
`;

export interface EventRow {
  readonly order_id: string;
  readonly id: string;
}

export interface OutboxRow extends EventRow {
  readonly type: string;
}

export interface HandledRow extends EventRow {
  readonly run: number;
  readonly attempt: number;
  /** MySQL has no type of its own for it. */
  readonly alone: boolean | number;
}

/** Counts are bigint to the servers, and sums decimal or null: drivers hand them over as text or as numbers. */
export type CountsRow = Readonly<
  Record<'committed' | 'handled' | 'deliveries' | 'jumped_over' | 'up_to_cursor', string | number | null>
>;

export function eventOf({ order_id, id }: EventRow): CommittedEvent {
  return { key: order_id, id };
}

export function outboxEventOf(row: OutboxRow): OutboxEvent {
  return { ...eventOf(row), type: row.type };
}

export function handledOf(row: HandledRow): HandledDelivery {
  return { ...eventOf(row), run: row.run, attempt: row.attempt, alone: Boolean(row.alone) };
}

export function countsOf(row: CountsRow): ShopCounts {
  const handled = Number(row.handled);
  return {
    committed: Number(row.committed),
    handled,
    duplicates: Number(row.deliveries) - handled,
    jumpedOver: Number(row.jumped_over),
    upToCursor: Number(row.up_to_cursor),
  };
}
