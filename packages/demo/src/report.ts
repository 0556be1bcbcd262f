import { check, type Verdict } from './checker.js';
import type { OutboxEvent, ShopDatabase } from './database/shop-database.js';
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
  readonly example: OutboxEvent | undefined;
  /** Events that an attempt had failed at before they were handled. */
  readonly retried: number;
}

export async function readReport(
  shop: ShopDatabase,
  run: Pick<Report, 'seconds' | 'kills' | 'plannedKills'>,
): Promise<Report> {
  const committed = await shop.committed();
  const handled = await shop.handled();
  // The cursor lives once, and sees one event after the other.
  const polled = (await shop.polled()).map((event) => ({ ...event, run: 1, alone: true }));
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
