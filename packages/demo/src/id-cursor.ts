import { setTimeout as delay } from 'node:timers/promises';
import { Background } from './background.js';
import type { ShopDatabase } from './database/shop-database.js';

export interface IdCursorOptions {
  /** Opens the shop with so many connections. */
  readonly open: (connections: number) => ShopDatabase;
  readonly everyMs: number;
}

/**
 * The outbox reader that most services begin with. It remembers the highest id that it has seen and asks for what
 * lies above. Nothing is wrong with the query; the ids just don't say in which order transactions commit.
 */
export class IdCursor {
  readonly polling: Background;
  #highestId = '0';
  #seen = 0;

  constructor({ open, everyMs }: IdCursorOptions) {
    this.polling = new Background(async (stopping) => {
      await using shop = open(1);
      while (!stopping.aborted) {
        await this.#poll(shop);
        await delay(everyMs, undefined, { signal: stopping }).catch(() => undefined);
      }
      // Once more, so that no row is called missed that it only had not got to yet.
      await this.#poll(shop);
    });
  }

  get highestId(): string {
    return this.#highestId;
  }

  get seen(): number {
    return this.#seen;
  }

  async #poll(shop: ShopDatabase): Promise<void> {
    const events = await shop.eventsAbove(this.#highestId);
    const last = events.at(-1);
    if (last === undefined) return;
    await shop.recordPolled(events);
    this.#highestId = last.id;
    this.#seen += events.length;
  }
}
