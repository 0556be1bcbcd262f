import { setTimeout as delay } from 'node:timers/promises';
import { definePipeline, fileOffsets, postgres, redisOffsets } from 'strandline';
import { openPool } from './database.js';
import { SETTINGS_VARIABLE, STOP, type WorkerSettings, type WorkerStatus } from './worker-messages.js';

/**
 * The process that is killed: a pipeline as a user of Strandline would write it, whose handler writes down each
 * event that it handled.
 */
const CONCURRENCY = 32;
/** What one event costs at most, in milliseconds: the call to the carrier, the mail, the cache. */
const WORK_MS = 30;
/** The share of first attempts that fail, so that retries can be seen to keep the order. */
const FAILURES = 0.01;
const STATUS_EVERY_MS = 100;

const settings = JSON.parse(process.env[SETTINGS_VARIABLE] ?? '') as WorkerSettings;
const shop = openPool(settings.url, 'shop handler', CONCURRENCY);
/** Kept by the handler for itself: it shows from outside whether two handlers of one order ever run at once. */
const busyOrders = new Set<string>();
let handled = 0;

const pipeline = definePipeline({
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
      handled += 1;
    } finally {
      busyOrders.delete(event.key);
    }
  },
});

function report(): void {
  const { state, running, source } = pipeline.status();
  const status: WorkerStatus = { state, running, lagBytes: source?.lagBytes ?? null, handled };
  if (process.connected) process.send?.(status);
}

process.on('SIGINT', () => undefined);
process.on('message', (message) => {
  if (message === STOP) void pipeline.stop();
});
// The channel closes when the parent dies, however it dies. Nobody is left then to stop this process, and the
// server goes too, so there is nothing to drain into.
const onOrphaned = () => process.exit(1);
process.on('disconnect', onOrphaned);

await pipeline.start();
const reporting = setInterval(report, STATUS_EVERY_MS);
try {
  await pipeline.finished;
} finally {
  clearInterval(reporting);
  await shop.end();
  process.off('disconnect', onOrphaned);
  if (process.connected) process.disconnect();
}
