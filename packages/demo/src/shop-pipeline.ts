import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { definePipeline, fileOffsets, postgres, redisOffsets, type Pipeline } from 'strandline';
import type { WorkerSettings } from './worker-messages.js';

const CONCURRENCY = 32;
/** What one event costs at most, in milliseconds: the call to the carrier, the mail, the cache. */
const WORK_MS = 30;
/** The share of first attempts that fail, so that retries can be seen to keep the order. */
const FAILURES = 0.01;

/** The pipeline as a user of Strandline would write it. Its handler writes down each event that it handled. */
export function shopPipeline(settings: WorkerSettings, shop: pg.Pool, onHandled: () => void): Pipeline {
  /** Kept by the handler for itself: it shows from outside whether two handlers of one order ever run at once. */
  const busyOrders = new Set<string>();

  return definePipeline({
    name: settings.pipeline,
    source: postgres({
      url: settings.url,
      outbox: { table: 'outbox', id: 'id', key: 'order_id', type: 'type', payload: 'payload' },
      start: 'now',
    }),
    offsets:
      settings.redisUrl === null
        ? fileOffsets({ directory: settings.offsetsDirectory })
        : redisOffsets({ url: settings.redisUrl }),
    concurrency: CONCURRENCY,

    async handle(event, ctx) {
      const alone = !busyOrders.has(event.key);
      busyOrders.add(event.key);
      try {
        await delay(Math.random() * WORK_MS);
        if (ctx.attempt === 1 && Math.random() < FAILURES) throw new Error('The carrier did not answer.');
        await shop.query(
          'INSERT INTO handled (order_id, outbox_id, run, attempt, alone) VALUES ($1, $2, $3, $4, $5)',
          [event.key, event.id, settings.run, ctx.attempt, alone],
        );
        onHandled();
      } finally {
        busyOrders.delete(event.key);
      }
    },
  });
}
