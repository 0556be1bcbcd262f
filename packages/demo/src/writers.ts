import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { Background } from './background.js';
import { openPool, queryOne } from './database.js';
import { OpenOrders } from './open-orders.js';
import { FINAL_STATE, nextState, STATES, type OrderState } from './shop.js';

export interface WritersOptions {
  readonly url: string;
  /** How many transactions are open at once. */
  readonly writers: number;
  /** Longest time that a transaction spends between taking its id and writing, in milliseconds. */
  readonly lingerMs: number;
}

interface Move {
  readonly orderId: string;
  readonly state: OrderState;
  readonly version: number;
}

/**
 * The shop's own application: nothing in here knows of either consumer.
 *
 * A transaction takes its outbox id first and does its other work after, as an ORM does that reserves ids from the
 * sequence, or any service that calls a payment provider in the middle. A transaction that lingered for 40 ms so
 * commits an id that is smaller than many which are committed already.
 */
export function startWriters({ url, writers, lingerMs }: WritersOptions): Background {
  const open = new OpenOrders();
  return new Background(async (stopping) => {
    const pool = openPool(url, 'shop writer', writers);
    try {
      await Promise.all(Array.from({ length: writers }, () => write(pool, open, lingerMs, stopping)));
    } finally {
      await pool.end();
    }
  });
}

async function write(
  pool: pg.Pool,
  open: OpenOrders,
  lingerMs: number,
  stopping: AbortSignal,
): Promise<void> {
  const client = await pool.connect();
  try {
    while (!stopping.aborted) await transact(client, open, lingerMs);
  } finally {
    client.release();
  }
}

async function transact(client: pg.PoolClient, open: OpenOrders, lingerMs: number): Promise<void> {
  await client.query('BEGIN');
  const id = await takeId(client);
  await delay(Math.random() * lingerMs);
  const chosen = open.choose();
  const move = chosen === undefined ? await place(client) : await advance(client, chosen);
  if (move === undefined) {
    // Another writer delivered the order first. The id is taken all the same: the sequence has a hole now that
    // will never be filled, which is why a poller can't simply wait for the next id either.
    await client.query('ROLLBACK');
    return;
  }
  await client.query(
    'INSERT INTO outbox (id, order_id, version, type, payload) VALUES ($1, $2, $3, $4, $5)',
    [
      id,
      move.orderId,
      move.version,
      `order.${move.state}`,
      JSON.stringify({ order: move.orderId, state: move.state }),
    ],
  );
  await client.query('COMMIT');
  if (chosen === undefined) open.add(move.orderId);
  if (move.state === FINAL_STATE) open.remove(move.orderId);
}

async function takeId(client: pg.PoolClient): Promise<string> {
  const { id } = await queryOne<{ id: string }>(client, `SELECT nextval('outbox_id') AS id`);
  return id;
}

async function place(client: pg.PoolClient): Promise<Move> {
  const sql = 'INSERT INTO orders (state, version) VALUES ($1, 1) RETURNING id';
  const { id } = await queryOne<{ id: string }>(client, sql, [STATES[0]]);
  return { orderId: id, state: STATES[0], version: 1 };
}

/** Moves an order one step on. Its row stays locked until the commit, so its events have one commit order. */
async function advance(client: pg.PoolClient, orderId: string): Promise<Move | undefined> {
  const order = await queryOne<{ state: OrderState; version: number }>(
    client,
    'SELECT state, version FROM orders WHERE id = $1 FOR UPDATE',
    [orderId],
  );
  const state = nextState(order.state);
  if (state === undefined) return undefined;
  const version = order.version + 1;
  await client.query('UPDATE orders SET state = $2, version = $3 WHERE id = $1', [orderId, state, version]);
  return { orderId, state, version };
}
