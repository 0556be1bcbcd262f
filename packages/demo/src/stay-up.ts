import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { queryOne } from './database.js';
import { Interrupted } from './interrupt.js';
import { number } from './view-text.js';
import type { View } from './view.js';

const LOOK_EVERY_MS = 250;

const QUERY = `
  SELECT (SELECT count(*) FROM outbox)::int AS committed,
         (SELECT count(DISTINCT outbox_id) FROM handled)::int AS handled
`;

/** Says what becomes of the events that a person inserts by hand, until Ctrl-C. */
export async function stayUp(pool: pg.Pool, view: View, signal: AbortSignal): Promise<void> {
  let shown = '';
  while (!signal.aborted) {
    const { committed, handled } = await queryOne<{ committed: number; handled: number }>(pool, QUERY);
    const line = `  committed ${number(committed)}, handled ${number(handled)}`;
    if (line !== shown) view.say(line);
    shown = line;
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  // Ctrl-C is how this is meant to end; anything else is a failure.
  if (!(signal.reason instanceof Interrupted)) throw signal.reason;
}
