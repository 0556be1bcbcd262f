import { setTimeout as delay } from 'node:timers/promises';
import { definePipeline, fileOffsets, redisOffsets, type Pipeline } from 'strandline';
import { KINDS } from './database/kinds.js';
import type { ShopDatabase } from './database/shop-database.js';
import { PATIENCE, Troubles } from './troubles.js';
import type { WorkerSettings } from './worker-messages.js';

const CONCURRENCY = 32;
/** What one event costs at most, in milliseconds: the call to the carrier, the mail, the cache. */
const WORK_MS = 30;
/** The share of first attempts that fail, so that retries can be seen to keep the order. */
const FAILURES = 0.01;

/** The pipeline as a user of Strandline would write it. Its handler writes down each event that it handled. */
export function shopPipeline(settings: WorkerSettings, shop: ShopDatabase, onHandled: () => void): Pipeline {
  /** Kept by the handler for itself: it shows from outside whether two handlers of one order ever run at once. */
  const busyOrders = new Set<string>();
  const troubles = settings.stays ? new Troubles() : null;

  return definePipeline({
    name: settings.pipeline,
    source: KINDS[settings.database].source(settings.url),
    offsets:
      settings.redisUrl === null
        ? fileOffsets({ directory: settings.offsetsDirectory })
        : redisOffsets({ url: settings.redisUrl }),
    deadLetters: KINDS[settings.database].letters(settings.url),
    concurrency: CONCURRENCY,
    ...(troubles === null ? {} : { handlerTimeout: PATIENCE, retry: { attempts: 100, maxDelay: 30_000 } }),

    async handle({ key, id }, { attempt, signal, replay }) {
      const alone = !busyOrders.has(key);
      busyOrders.add(key);
      try {
        await delay(Math.random() * WORK_MS);
        // Replays read on; they are to look at, and nothing is recorded twice.
        if (replay) return;
        await troubles?.meet(key, attempt, signal);
        if (attempt === 1 && Math.random() < FAILURES) throw new Error('The carrier did not answer.');
        await shop.recordHandled({ key, id, run: settings.run, attempt, alone });
        onHandled();
      } finally {
        busyOrders.delete(key);
      }
    },
  });
}
