import type { Offset } from '@strandline/core';
import { startRedis } from '@strandline/servers';
import {
  checkHistory,
  commitLsnOf,
  CommitWitness,
  createOutbox,
  insertRows,
  MemoryHistory,
  outboxSource,
  PipelineRuns,
  recorded,
  rowsOf,
  ScriptedHandler,
  TcpProxy,
  testDatabase,
  TestLog,
  waitUntil,
  type OutboxSource,
} from '@strandline/test-kit';
import {
  definePipeline,
  memoryOffsets,
  PermanentError,
  postgres,
  redisOffsets,
  type Handler,
  type Pipeline,
  type PipelineOptions,
} from 'strandline';
import { describe, expect, test } from 'vitest';

const kept = { missing: [], violations: [], redelivered: [] };

/** Defines pipelines on one outbox that share their offset: the next one goes on where the last one stopped. */
function pipelines(outbox: OutboxSource): (handle: Handler, tuning?: Partial<PipelineOptions>) => Pipeline {
  const storage = new Map<string, Offset>();
  return (handle, tuning = {}) =>
    definePipeline({
      name: 'drain',
      source: postgres(outbox),
      offsets: memoryOffsets({ storage }),
      log: new TestLog(),
      ...tuning,
      batch: undefined,
      handle,
    });
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

describe('a pipeline that stops finishes what is in flight, starts nothing new, saves and releases', () => {
  test.each(['SIGTERM', 'stop()'])('on %s', async (how) => {
    await using db = await testDatabase();
    const source = await createOutbox(db);
    const witness = await CommitWitness.start(db);
    await using runs = await PipelineRuns.prepare({
      name: 'drain',
      source,
      tuning: { concurrency: 3 },
      behaviour: { hold: ['k1', 'k2'] },
    });
    const { history } = runs;
    const life = await runs.start();
    await insertRows(db.pool, rowsOf('k0'));
    const [a = ''] = await insertRows(db.pool, rowsOf('k1'));
    const [b = ''] = await insertRows(db.pool, rowsOf('k2'));
    // Behind those in flight, and without a place to run in: the third one is for k0 to come by.
    await insertRows(db.pool, rowsOf('k1', 'k2', 'k1'));
    await history.until('two run', () => history.isRunning('k1', 1) && history.isRunning('k2', 1));
    await life.untilStatus('the others are queued', (status) => status.unsettled === 5);

    if (how === 'SIGTERM') life.signal('SIGTERM');
    else void life.stop();
    await life.untilStatus('it is stopping', (status) => status.state === 'stopping');
    await insertRows(db.pool, rowsOf('k0'));
    life.release();
    expect(await life.exited).toEqual({ code: 0, signal: null });
    expect(history.refresh().ids('started').slice(-2).sort()).toEqual([a, b].sort());
    expect(history.ids('succeeded').length).toBe(3);

    const committed = await witness.events();
    const position = (place: number): bigint => commitLsnOf(committed[place]?.position ?? '');
    const { rows } = await db.pool.query<{ confirmed: string; active: boolean }>(
      `SELECT (confirmed_flush_lsn - '0/0')::text AS confirmed, active FROM pg_replication_slots WHERE slot_name = $1`,
      [db.slot()],
    );
    const confirmed = BigInt(rows[0]?.confirmed ?? 0);
    expect(rows[0]?.active).toBe(false);
    expect(confirmed).toBeGreaterThanOrEqual(position(2));
    expect(confirmed).toBeLessThanOrEqual(position(3));

    const next = await runs.start({ behaviour: {} });
    await history.untilSucceeded(committed.length);
    await next.stop();
    expect(checkHistory(committed, history.refresh().entries)).toEqual(kept);
  });

  test('and does not wait for keys that are in backoff or have halted', async () => {
    await using db = await testDatabase();
    const define = pipelines(await createOutbox(db));
    const pipeline = define(
      (event) => {
        throw event.key === 'halting' ? new PermanentError('for good') : new Error('for now');
      },
      { retry: { initialDelay: 600_000, maxDelay: 600_000, jitter: 'none' } },
    );
    await pipeline.start();
    const ids = await insertRows(db.pool, rowsOf('halting', 'failing', 'halting'));
    await waitUntil('both have failed', () => {
      const { halted, backoff } = pipeline.status();
      return halted + backoff === 2;
    });
    expect(await milliseconds(() => pipeline.stop())).toBeLessThan(5_000);

    const history = new MemoryHistory();
    await using next = define(new ScriptedHandler(history.record).handle);
    await next.start();
    await history.untilSucceeded(3);
    expect(history.ids('succeeded').sort()).toEqual([...ids].sort());
  });
});

describe('stop() may be called', () => {
  test('twice, and at once', async () => {
    await using db = await testDatabase();
    const define = pipelines(await createOutbox(db));
    const history = new MemoryHistory();
    const handler = new ScriptedHandler(history.record, { hold: ['k1'] });
    const pipeline = define(handler.handle);
    await pipeline.start();
    await insertRows(db.pool, rowsOf('k1'));
    await history.until('it runs', () => history.isRunning('k1', 1));
    const stops = [pipeline.stop(), pipeline.stop(), pipeline.finished];
    expect(pipeline.status().state).toBe('stopping');
    handler.release();
    await Promise.all(stops);
    await pipeline.stop();
    expect(pipeline.status().state).toBe('stopped');
    expect(history.ids('succeeded').length).toBe(1);
  });

  test('before start(), which then says that it is too late', async () => {
    await using db = await testDatabase();
    const pipeline = pipelines(await createOutbox(db))(() => undefined);
    await pipeline.stop();
    await pipeline.finished;
    expect(pipeline.status().state).toBe('stopped');
    await expect(pipeline.start()).rejects.toMatchObject({ code: 'PIPELINE_STATE' });
    await db.waitForSlot(db.slot(), 'gone');
  });

  test('while it starts', async () => {
    await using db = await testDatabase();
    const pipeline = pipelines(await createOutbox(db))(() => undefined);
    const starting = pipeline.start();
    await pipeline.stop();
    await starting;
    expect(pipeline.status().state).toBe('stopped');
  });

  test.each([
    ['before its first await, and awaited', (pipeline: Pipeline) => pipeline.stop()],
    [
      'after an await',
      async (pipeline: Pipeline) => {
        await Promise.resolve();
        void pipeline.stop();
      },
    ],
  ])('from inside a handler, %s: its event counts as handled', async (_, stop) => {
    await using db = await testDatabase();
    const source = await createOutbox(db);
    const witness = await CommitWitness.start(db);
    const define = pipelines(source);
    const history = new MemoryHistory();
    const pipeline = define(async (event, { attempt }) => {
      await recorded(history.record, { run: 1, attempt, events: [event] }, () => stop(pipeline));
    });
    await pipeline.start();
    await insertRows(db.pool, rowsOf('k1', 'k1', 'k1'));
    expect(await milliseconds(() => pipeline.finished)).toBeLessThan(5_000);
    expect(history.ids('succeeded').length).toBe(1);

    await using next = define(new ScriptedHandler(history.record, {}, 2).handle);
    await next.start();
    await history.untilSucceeded(3);
    expect(checkHistory(await witness.events(), history.entries)).toEqual(kept);
  });
});

describe('handlers that take longer than drainTimeout', () => {
  test('are told by ctx.signal; what they make of it counts', async () => {
    const drainTimeout = 300;
    await using db = await testDatabase();
    const source = await createOutbox(db);
    const witness = await CommitWitness.start(db);
    const define = pipelines(source);
    const history = new MemoryHistory();
    const pipeline = define(
      (event, { attempt, signal }) =>
        recorded(history.record, { run: 1, attempt, events: [event] }, async () => {
          await new Promise((resolve) => {
            signal.addEventListener('abort', resolve);
          });
          if (event.key === 'gives up') throw signal.reason;
        }),
      { drainTimeout },
    );
    await pipeline.start();
    const [done = '', undone = ''] = await insertRows(db.pool, rowsOf('ends well', 'gives up'));
    await history.until('both run', () => history.entries.length === 2);
    const time = await milliseconds(() => pipeline.stop());
    expect(time).toBeGreaterThanOrEqual(drainTimeout - 1);
    expect(time).toBeLessThan(drainTimeout + 4_000);
    expect(history.ids('succeeded')).toEqual([done]);

    await using next = define(new ScriptedHandler(history.record, {}, 2).handle);
    await next.start();
    await history.untilSucceeded(2);
    expect(checkHistory(await witness.events(), history.entries)).toEqual({ ...kept, redelivered: [undone] });
  });

  test.each([
    ['it owns the log', false],
    ['it has lost it', true],
  ])('and that do not listen do not hold the process up for ever, when %s', async (_, isLost) => {
    await using db = await testDatabase();
    const source = await createOutbox(db);
    const storage = new Map<string, Offset>();
    const history = new MemoryHistory();
    const log = new TestLog();
    const handler = new ScriptedHandler(history.record, { hold: ['k1'] });
    const pipeline = definePipeline({
      name: 'drain',
      source: postgres(source),
      offsets: memoryOffsets({ storage }),
      drainTimeout: 100,
      log,
      handle: handler.handle,
    });
    await pipeline.start();
    await insertRows(db.pool, rowsOf('k1'));
    await history.until('it runs', () => history.isRunning('k1', 1));
    if (isLost) {
      const identity = storage.get('drain')?.identity ?? {};
      await memoryOffsets({ storage }).claim('drain', { identity, watermark: '0/0:0' });
      await insertRows(db.pool, rowsOf('k2'));
      await waitUntil('it gives the log up', () => log.has('do not heed their signal'));
    }
    expect(await milliseconds(() => pipeline.stop())).toBeLessThan(8_000);
    expect(pipeline.status().state).toBe('stopped');
    expect(log.has('their events will be delivered again')).toBe(true);
    handler.release();
  });
});

describe('it stops promptly', () => {
  test('while Postgres is out of reach', async () => {
    await using db = await testDatabase();
    await createOutbox(db);
    await using proxy = await TcpProxy.start(db.url);
    const source = { ...outboxSource(db, proxy.url), silenceTimeout: 1_000, connectTimeout: 60_000 };
    const history = new MemoryHistory();
    const define = pipelines(source);
    const pipeline = define(new ScriptedHandler(history.record).handle);
    await pipeline.start();
    await insertRows(db.pool, rowsOf('k'));
    await history.untilSucceeded(1);
    proxy.freezeNewOnes();
    proxy.freeze();
    await waitUntil('it connects', () => pipeline.status().source?.state === 'reconnecting');
    expect(await milliseconds(() => pipeline.stop())).toBeLessThan(5_000);
    expect(pipeline.status().state).toBe('stopped');
  });

  test('while Redis is away; what could not be saved comes again', async () => {
    await using redis = await startRedis({ exclusive: true });
    await using db = await testDatabase();
    const source = await createOutbox(db);
    const witness = await CommitWitness.start(db);
    const history = new MemoryHistory();
    const define = (run: number): Pipeline =>
      definePipeline({
        name: 'drain',
        source: postgres(source),
        offsets: redisOffsets({ url: redis.url, commandTimeout: 300 }),
        log: new TestLog(),
        handle: new ScriptedHandler(history.record, {}, run).handle,
      });
    const pipeline = define(1);
    await pipeline.start();
    const [a = ''] = await insertRows(db.pool, rowsOf('k'));
    await history.untilSucceeded(1);
    await waitUntil('it is saved', () => pipeline.status().unsaved === 0);
    await redis.kill();
    const [b = ''] = await insertRows(db.pool, rowsOf('k'));
    await history.untilSucceeded(2);
    expect(await milliseconds(() => pipeline.stop())).toBeLessThan(5_000);
    await redis.start();

    await using next = define(2);
    await next.start();
    const [c = ''] = await insertRows(db.pool, rowsOf('k'));
    await history.untilSucceeded(3);
    expect(checkHistory(await witness.events(), history.entries)).toEqual({ ...kept, redelivered: [b] });
    expect([a, b, c]).toEqual([...history.succeeded]);
  });
});
