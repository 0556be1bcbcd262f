import {
  createOutbox,
  insertRows,
  testDatabase,
  TestLog,
  waitUntil,
  type OutboxRow,
} from '@strandline/test-kit';
import {
  definePipeline,
  memoryOffsets,
  postgres,
  webhook,
  webhookBatch,
  type HandlerContext,
  type OutboxEvent,
  type Source,
} from 'strandline';
import { beforeAll, describe, expect, test } from 'vitest';
import { receiverCommand, type Handled, type ReceiverKind } from './webhook-receiver.js';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const NEXT = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;

/** The n-th event of each key has the version n. */
function versioned(count: number, keys: number): OutboxRow[] {
  return Array.from({ length: count }, (_, index) => ({
    key: `ключ ${String(index % keys)}`,
    payload: JSON.stringify({ version: Math.floor(index / keys) + 1, total: '12.50' }),
  }));
}

/** What of each key was handled, in that order. */
function versionsOf(journal: readonly Handled[]): Record<string, (number | null)[]> {
  const versions: Record<string, (number | null)[]> = {};
  for (const { key, version } of journal) (versions[key] ??= []).push(version);
  return versions;
}

function inOrder(count: number, keys: number): Record<string, number[]> {
  return Object.fromEntries(
    Array.from({ length: keys }, (_, key) => [
      `ключ ${String(key)}`,
      Array.from({ length: count / keys }, (_, index) => index + 1),
    ]),
  );
}

async function outboxOf(db: Awaited<ReturnType<typeof testDatabase>>): Promise<Source> {
  const { outbox, ...source } = await createOutbox(db);
  return postgres({ ...source, outbox: { ...outbox, payloadFormat: 'json' } });
}

const settings = {
  concurrency: 8,
  retry: { attempts: Infinity, initialDelay: 2, maxDelay: 20 },
};

describe.each<ReceiverKind>(['python', 'go'])('a receiver in %s', (kind) => {
  let start: Awaited<ReturnType<typeof receiverCommand>>;

  beforeAll(async () => {
    start = await receiverCommand(kind);
    // Go's standard library is compiled once for a checkout, beside all the other suites.
  }, 400_000);

  test('handles each event once and in order per key, though it fails, is busy and drops connections', async () => {
    await using db = await testDatabase();
    await using receiver = await start(SECRET);
    // The receiver does not know the new secret yet.
    const hook = webhook({ url: receiver.url, secret: [NEXT, SECRET] });
    const seen: [OutboxEvent, HandlerContext][] = [];
    const handle = Object.assign((event: OutboxEvent, ctx: HandlerContext) => {
      if (ctx.attempt === 1) seen.push([event, ctx]);
      return hook(event, ctx);
    }, hook);
    await using pipeline = definePipeline({
      name: 'hooks',
      source: await outboxOf(db),
      offsets: memoryOffsets(),
      log: new TestLog(),
      ...settings,
      handle,
    });
    await pipeline.start();
    await insertRows(db.pool, versioned(300, 10));
    await waitUntil('all are settled', () => seen.length === 300 && pipeline.status().unsettled === 0, {
      deadlineMs: 45_000,
    });

    expect(versionsOf(await receiver.journal())).toEqual(inOrder(300, 10));
    const counts = await receiver.counts();
    expect(counts).toMatchObject({ handled: 300, refused: 0, outOfOrder: 0 });
    expect(counts.duplicates, 'answers that were lost on the way').toBeGreaterThan(0);

    // A crash delivers again what was not saved. One of them may meet a request that fails.
    const again = await Promise.allSettled(seen.slice(0, 10).map(([event, ctx]) => hook(event, ctx)));
    const taken = again.filter(({ status }) => status === 'fulfilled').length;
    const after = await receiver.counts();
    expect(taken).toBeGreaterThan(0);
    expect(after.handled).toBe(300);
    expect(after.duplicates).toBeGreaterThanOrEqual(counts.duplicates + taken);
  });

  // How batches are posted is the same for every receiver: one of them proves it.
  if (kind === 'go') return;

  test('takes batches, and refuses what others sign', async () => {
    await using db = await testDatabase();
    await using receiver = await start(`${NEXT} ${SECRET}`);
    await using pipeline = definePipeline({
      name: 'hooks',
      source: await outboxOf(db),
      offsets: memoryOffsets(),
      log: new TestLog(),
      ...settings,
      batch: { max: 8 },
      handle: webhookBatch({ url: receiver.url, secret: SECRET, max: 5 }),
    });
    await pipeline.start();
    await insertRows(db.pool, versioned(120, 6));
    await waitUntil('all are handled', async () => (await receiver.counts()).handled === 120);
    await waitUntil('all are settled', () => pipeline.status().unsettled === 0);
    expect(versionsOf(await receiver.journal())).toEqual(inOrder(120, 6));

    await waitUntil('a request with another signature gets an answer of its own', async () => {
      const response = await fetch(receiver.url, {
        method: 'POST',
        headers: {
          'webhook-id': 'evt_1',
          'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
          'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
          connection: 'close',
        },
        body: '{}',
      }).catch(() => undefined);
      return response?.status === 401;
    });
    expect(await receiver.counts()).toMatchObject({ handled: 120, outOfOrder: 0 });
  });
});
