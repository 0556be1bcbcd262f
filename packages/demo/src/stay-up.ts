import { setTimeout as delay } from 'node:timers/promises';
import type { ShopDatabase } from './database/shop-database.js';
import { Interrupted } from './interrupt.js';
import { number } from './view-text.js';
import type { View } from './view.js';

const LOOK_EVERY_MS = 250;

/** Says what becomes of the events that a person inserts by hand, until Ctrl-C. */
export async function stayUp(shop: ShopDatabase, view: View, signal: AbortSignal): Promise<void> {
  let shown = '';
  while (!signal.aborted) {
    const { committed, handled } = await shop.counts('0');
    const line = `  committed ${number(committed)}, handled ${number(handled)}`;
    if (line !== shown) view.say(line);
    shown = line;
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  // Ctrl-C is how this is meant to end; anything else is a failure.
  if (!(signal.reason instanceof Interrupted)) throw signal.reason;
}
