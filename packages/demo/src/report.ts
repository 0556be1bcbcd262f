import type pg from 'pg';
import { check, type CommittedEvent, type Delivery, type Verdict } from './checker.js';
import type { Kill } from './strandline.js';

/** What came out, counted from the tables after everything had stopped. */
export interface Report {
  readonly seconds: number;
  readonly orders: number;
  readonly kills: readonly Kill[];
  readonly plannedKills: number;
  readonly strandline: Verdict;
  readonly idCursor: Verdict;
  /** One event that the id cursor missed, to name; undefined when it missed none. */
  readonly example: OutboxRow | undefined;
  /** Events that an attempt had failed at before they were handled. */
  readonly retried: number;
}

export interface OutboxRow extends CommittedEvent {
  readonly type: string;
}

export async function readReport(
  pool: pg.Pool,
  run: Pick<Report, 'seconds' | 'kills' | 'plannedKills'>,
): Promise<Report> {
  const committed = await select<OutboxRow>(
    pool,
    'SELECT order_id AS key, id, type FROM outbox ORDER BY order_id, version',
  );
  const handled = await select<Delivery & { attempt: number }>(
    pool,
    // By life first: a statement that was under way when its client was killed may still be carried out a moment
    // later, and belongs to the life that sent it.
    'SELECT order_id AS key, outbox_id AS id, run, attempt, alone FROM handled ORDER BY run, seq',
  );
  const polled = await select<Delivery>(
    pool,
    'SELECT order_id AS key, outbox_id AS id, 1 AS run, true AS alone FROM polled ORDER BY seq',
  );
  const idCursor = check(committed, polled);
  return {
    ...run,
    orders: new Set(committed.map((event) => event.key)).size,
    strandline: check(committed, handled),
    idCursor,
    example: committed.find((event) => event.id === idCursor.missed[0]?.id),
    retried: handled.filter((delivery) => delivery.attempt > 1).length,
  };
}

/** The demo's promise, and that it was put to the test as planned. */
export function isKept(report: Report): boolean {
  const { strandline, kills, plannedKills } = report;
  return (
    strandline.missed.length === 0 && strandline.violations.length === 0 && kills.length === plannedKills
  );
}

export function toJson(report: Report): string {
  const { strandline, idCursor, kills } = report;
  return JSON.stringify({
    committed: strandline.committed,
    handled: strandline.handled,
    missed: strandline.missed.length,
    duplicates: strandline.duplicates,
    orderViolations: strandline.violations.length,
    kills: kills.length,
    idCursor: { seen: idCursor.handled, missed: idCursor.missed.length },
  });
}

async function select<Row extends object>(pool: pg.Pool, sql: string): Promise<Row[]> {
  return (await pool.query<Row>(sql)).rows;
}
