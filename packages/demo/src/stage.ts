import { Board } from './board.js';
import type { ShopDatabase } from './database/shop-database.js';
import { IdCursor } from './id-cursor.js';
import { readLiveCounts, type LiveCounts } from './live-counts.js';
import type { Kill, StrandlineUnderFire } from './strandline.js';
import { sleep } from './until.js';
import type { View } from './view.js';
import { startWriters } from './writers.js';

const WRITERS = 8;
const LINGER_MS = 50;
const POLL_EVERY_MS = 100;
/** When Strandline is killed, in shares of the time that the writers run. */
const KILL_AT = [0.35, 0.65] as const;
/** With the writers done, Strandline may take this long without handling anything before it counts as stuck. */
const STUCK_AFTER_MS = 10_000;
const DRAIN_LOOK_EVERY_MS = 100;

export interface Showing {
  /** Opens the shop for one of the actors. */
  readonly open: (client: string, connections: number) => ShopDatabase;
  /** For the counts. */
  readonly shop: ShopDatabase;
  readonly seconds: number;
  readonly view: View;
  readonly strandline: StrandlineUnderFire;
}

export interface Shown {
  /** How long the writers ran, in seconds. */
  readonly seconds: number;
  readonly kills: readonly Kill[];
  readonly plannedKills: number;
}

/**
 * The play: writers, the id cursor and Strandline at once, two kills on the way, then the end of the writers, and
 * time for both consumers to finish. Strandline is running when it begins and has drained when it ends.
 */
export async function perform(showing: Showing, interrupt: AbortSignal): Promise<Shown> {
  const { open, shop, seconds, view, strandline } = showing;
  const began = performance.now();
  const now = () => (performance.now() - began) / 1000;

  const cursor = new IdCursor({
    open: (connections) => open('id cursor', connections),
    everyMs: POLL_EVERY_MS,
  });
  const writing = startWriters({
    open: (connections) => open('shop writer', connections),
    writers: WRITERS,
    lingerMs: LINGER_MS,
  });
  const count = () => readLiveCounts(shop, cursor);
  await using board = new Board({
    view,
    count,
    look: () => ({
      elapsed: now(),
      seconds,
      worker: strandline.status,
      run: strandline.run,
      kills: strandline.kills,
      plannedKills: KILL_AT.length,
    }),
  });
  const signal = AbortSignal.any([
    interrupt,
    strandline.failed,
    cursor.polling.failed,
    writing.failed,
    board.counting.failed,
  ]);
  try {
    for (const share of KILL_AT) {
      await sleep((share * seconds - now()) * 1000, signal);
      await strandline.crash(now, signal);
    }
    await sleep((seconds - now()) * 1000, signal);
  } finally {
    // The writers first: the cursor's last poll comes when there is nothing more to wait for.
    await writing.stop().catch(() => undefined);
    await cursor.polling.stop().catch(() => undefined);
  }
  signal.throwIfAborted();
  const wrote = now();
  board.phase = 'draining';
  await drained(count, signal);
  await strandline.stop();
  await board.finish();
  return { seconds: wrote, kills: strandline.kills, plannedKills: KILL_AT.length };
}

/** Resolves when Strandline has handled all that was committed, or has stopped getting anywhere. */
async function drained(count: () => Promise<LiveCounts>, signal: AbortSignal): Promise<void> {
  let counts = await count();
  let progressAt = performance.now();
  while (counts.handled < counts.committed && performance.now() - progressAt < STUCK_AFTER_MS) {
    await sleep(DRAIN_LOOK_EVERY_MS, signal);
    const before = counts;
    counts = await count();
    if (counts.handled > before.handled) progressAt = performance.now();
  }
}
