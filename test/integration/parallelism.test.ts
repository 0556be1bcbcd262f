import {
  databaseKinds,
  MemoryHistory,
  rowsInTurn,
  rowsOf,
  ScriptedHandler,
  TestLog,
  testOutbox,
  waitUntil,
  watchFor,
} from '@strandline/test-kit';
import { definePipeline, memoryOffsets } from 'strandline';
import { describe, expect, test } from 'vitest';

describe.each(databaseKinds)('%s: different keys run in parallel', (kind) => {
  test('up to the concurrency, and no more', async () => {
    await using outbox = await testOutbox(kind);
    const history = new MemoryHistory();
    const handler = new ScriptedHandler(history.record, { hold: ['*'] });
    await using pipeline = definePipeline({
      name: 'parallel',
      source: outbox.source(),
      offsets: memoryOffsets(),
      concurrency: 5,
      log: new TestLog(),
      handle: handler.handle,
    });
    await pipeline.start();
    await outbox.insert(rowsInTurn(16, 8));
    const started = (): number => history.ids('started').length;
    await history.until('five run', () => started() >= 5);
    await waitUntil('all are queued', () => pipeline.status().unsettled === 16);
    expect(pipeline.status()).toMatchObject({ running: 5, strands: 8 });
    await watchFor(300, 'no sixth one starts', () => started() === 5);

    // Each that ends makes room for one.
    for (const key of ['k0', 'k1', 'k2']) {
      const before = started();
      handler.step(key);
      await history.until('the next one runs', () => started() > before);
    }
    expect(started()).toBe(8);
    expect(pipeline.status()).toMatchObject({ running: 5, settled: 3 });
    handler.release();
    await history.untilSucceeded(16);
    expect(mostAtOnce(history)).toBe(5);
  });

  test('and as many as there are keys, when the concurrency allows it', async () => {
    await using outbox = await testOutbox(kind);
    const history = new MemoryHistory();
    const handler = new ScriptedHandler(history.record, { hold: ['*'] });
    await using pipeline = definePipeline({
      name: 'parallel',
      source: outbox.source(),
      offsets: memoryOffsets(),
      concurrency: 500,
      log: new TestLog(),
      handle: handler.handle,
    });
    await pipeline.start();
    await outbox.insert(rowsInTurn(600, 300));
    await history.until('all keys run', () => history.ids('started').length === 300);
    handler.release();
    await history.untilSucceeded(600);
    expect(mostAtOnce(history)).toBe(300);
  });
});

describe.each(databaseKinds)('%s: the others are not stopped', (kind) => {
  const others = 200;

  test('by keys that fail again and again, hang or have halted', async () => {
    await using outbox = await testOutbox(kind);
    const history = new MemoryHistory();
    const handler = new ScriptedHandler(history.record, {
      hold: ['hanging'],
      failFirst: { failing: Infinity },
    });
    await using pipeline = definePipeline({
      name: 'isolated',
      source: outbox.source(),
      offsets: memoryOffsets(),
      // One place is taken by the hanging key for good; one is left.
      concurrency: 2,
      retry: { attempts: 3, initialDelay: 5, maxDelay: 5 },
      drainTimeout: 1_000,
      log: new TestLog(),
      handle: handler.handle,
    });
    await pipeline.start();
    const bad = Array.from({ length: 30 }, () => ['hanging', 'failing']).flat();
    await outbox.insert(rowsOf(...bad));
    await outbox.insert(rowsInTurn(others, 20));
    await history.untilSucceeded(others);
    await waitUntil('the failing key halts', () => pipeline.status().halted === 1);

    expect(history.ofKey('hanging').map(({ what }) => what)).toEqual(['started']);
    expect(history.ofKey('failing').length).toBe(6);
    expect(pipeline.status()).toMatchObject({ running: 1, halted: 1, unsettled: bad.length });
    handler.release();
    await history.untilSucceeded(others + 30);
  });

  test('by keys that wait for their next attempt: these take no place', async () => {
    await using outbox = await testOutbox(kind);
    const history = new MemoryHistory();
    const failing = Array.from({ length: 50 }, (_, index) => `failing${String(index)}`);
    const handler = new ScriptedHandler(history.record, {
      failFirst: Object.fromEntries(failing.map((key) => [key, 1])),
    });
    await using pipeline = definePipeline({
      name: 'isolated',
      source: outbox.source(),
      offsets: memoryOffsets(),
      concurrency: 1,
      retry: { initialDelay: 600_000, maxDelay: 600_000, jitter: 'none' },
      drainTimeout: 1_000,
      log: new TestLog(),
      handle: handler.handle,
    });
    await pipeline.start();
    await outbox.insert(rowsOf(...failing));
    await outbox.insert(rowsInTurn(others, 20));
    await history.untilSucceeded(others);
    expect(pipeline.status()).toMatchObject({ running: 0, backoff: 50, unsettled: 50 });
  });

  test('by a hot key with a long queue: it gets one turn at a time', async () => {
    const hot = 5_000;
    await using outbox = await testOutbox(kind);
    const history = new MemoryHistory();
    const handler = new ScriptedHandler(history.record, { hold: ['*'] });
    await using pipeline = definePipeline({
      name: 'isolated',
      source: outbox.source(),
      offsets: memoryOffsets(),
      concurrency: 2,
      log: new TestLog(),
      handle: handler.handle,
    });
    await pipeline.start();
    const keys = Array<string>(hot).fill('hot');
    await outbox.insert([...rowsOf(...keys), ...rowsInTurn(others, others)]);
    await waitUntil('all are queued', () => pipeline.status().unsettled === hot + others);
    handler.release();
    await history.untilSucceeded(hot + others);

    const lastOther = history.entries.findLastIndex(({ what, key }) => what === 'succeeded' && key !== 'hot');
    const hotBefore = history.entries
      .slice(0, lastOther)
      .filter(({ what, key }) => what === 'succeeded' && key === 'hot').length;
    expect(hotBefore, 'turns of the hot key before the last of the others was done').toBeLessThan(5);
  });
});

function mostAtOnce(history: MemoryHistory): number {
  let running = 0;
  let most = 0;
  for (const { what } of history.entries) {
    running += what === 'started' ? 1 : -1;
    most = Math.max(most, running);
  }
  return most;
}
