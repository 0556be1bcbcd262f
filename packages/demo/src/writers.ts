import { setTimeout as delay } from 'node:timers/promises';
import { Background } from './background.js';
import type { ShopDatabase, ShopWriter } from './database/shop-database.js';
import { OpenOrders } from './open-orders.js';
import { FINAL_STATE, nextState, STATES, type Move } from './shop.js';

export interface WritersOptions {
  /** Opens the shop with so many connections. */
  readonly open: (connections: number) => ShopDatabase;
  /** How many transactions are open at once. */
  readonly writers: number;
  /** Longest time that a transaction spends between writing its event and committing it, in milliseconds. */
  readonly lingerMs: number;
}

/** The share of transactions that end in a rollback. */
const REFUSED = 0.02;

/**
 * The shop's own application: nothing in here knows of either consumer.
 *
 * A transaction writes its event, which takes the next id, and then has more to do before it commits, as any service
 * has that calls a payment provider in the middle. One that lingered for 40 ms so commits an id that is smaller than
 * many which are committed already.
 */
export function startWriters({ open, writers, lingerMs }: WritersOptions): Background {
  const orders = new OpenOrders();
  return new Background(async (stopping) => {
    await using shop = open(writers);
    await Promise.all(Array.from({ length: writers }, () => write(shop, orders, lingerMs, stopping)));
  });
}

async function write(
  shop: ShopDatabase,
  orders: OpenOrders,
  lingerMs: number,
  stopping: AbortSignal,
): Promise<void> {
  using writer = await shop.openWriter();
  while (!stopping.aborted) await transact(writer, orders, lingerMs);
}

async function transact(writer: ShopWriter, orders: OpenOrders, lingerMs: number): Promise<void> {
  const chosen = orders.choose();
  await writer.begin();
  const move = chosen === undefined ? await place(writer) : await advance(writer, chosen);
  if (move === undefined) {
    // Another writer delivered the order first.
    await writer.rollback();
    return;
  }
  await writer.insertEvent(move);
  await delay(Math.random() * lingerMs);
  if (Math.random() < REFUSED) {
    // The id stays taken: the ids have a hole now that will never be filled, which is why a poller can't simply wait
    // for the next id either.
    await writer.rollback();
    return;
  }
  await writer.commit();
  if (chosen === undefined) orders.add(move.orderId);
  if (move.state === FINAL_STATE) orders.remove(move.orderId);
}

async function place(writer: ShopWriter): Promise<Move> {
  const state = STATES[0];
  return { orderId: await writer.insertOrder(state), state, version: 1 };
}

/** Moves an order one step on. Its row stays locked until the commit, so its events have one commit order. */
async function advance(writer: ShopWriter, orderId: string): Promise<Move | undefined> {
  const order = await writer.lockOrder(orderId);
  const state = nextState(order.state);
  if (state === undefined) return undefined;
  const move = { orderId, state, version: order.version + 1 };
  await writer.updateOrder(move);
  return move;
}
