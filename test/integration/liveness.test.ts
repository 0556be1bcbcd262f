import { startPostgres, startRedis, type PostgresServer } from '@strandline/servers';
import {
  createOutbox,
  insertRows,
  judge,
  MemoryHistory,
  onceEach,
  outboxSource,
  OutboxWriters,
  PostgresCommitWitness,
  PostgresOutboxSession,
  rowsInTurn,
  rowsOf,
  ScriptedHandler,
  TcpProxy,
  testDatabase,
  TestLog,
  testRedis,
  waitUntil,
  watchFor,
  type HandlerBehaviour,
  type OutboxSource,
} from '@strandline/test-kit';
import {
  definePipeline,
  memoryOffsets,
  postgres,
  redisOffsets,
  type OffsetStore,
  type Pipeline,
  type PipelineOptions,
  type PostgresOptions,
} from 'strandline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

interface Setup {
  readonly behaviour?: HandlerBehaviour;
  readonly source?: Partial<PostgresOptions>;
  readonly offsets?: OffsetStore;
  readonly tuning?: Partial<PipelineOptions>;
}

/** A pipeline that has started, its handler and what that did. */
async function running(
  outbox: OutboxSource,
  { behaviour = {}, source = {}, offsets = memoryOffsets(), tuning = {} }: Setup = {},
): Promise<
  { history: MemoryHistory; handler: ScriptedHandler; pipeline: Pipeline; log: TestLog } & AsyncDisposable
> {
  const history = new MemoryHistory();
  const handler = new ScriptedHandler(history.record, behaviour);
  const log = new TestLog();
  const pipeline = definePipeline({
    name: 'alive',
    source: postgres({ ...outbox, reconnect: { initialDelay: 20, maxDelay: 200 }, ...source }),
    offsets,
    drainTimeout: 2_000,
    log,
    ...tuning,
    batch: undefined,
    handle: handler.handle,
  });
  await pipeline.start();
  return { history, handler, pipeline, log, [Symbol.asyncDispose]: () => pipeline.stop() };
}

const reconnects = (pipeline: Pipeline): number => pipeline.status().source?.reconnects ?? 0;

describe('a server that hangs up on readers that are silent for 1.5 s', () => {
  const withTimeout = (outbox: OutboxSource): OutboxSource => {
    const url = new URL(outbox.url);
    url.searchParams.set('options', '-c wal_sender_timeout=1500ms');
    return { ...outbox, url: url.href };
  };
  /** Long enough for it to have hung up twice. */
  const longMs = 3_500;

  test('does not hang up while a handler is slow', async () => {
    await using db = await testDatabase();
    const outbox = withTimeout(await createOutbox(db));
    await using run = await running(outbox, { behaviour: { hold: ['slow'] } });
    await insertRows(db.pool, rowsOf('slow'));
    await run.history.until('the slow one runs', () => run.history.isRunning('slow', 1));
    await watchFor(longMs, 'connected', () => run.pipeline.status().source?.state === 'streaming');
    run.handler.release();
    await run.history.untilSucceeded(1);
    expect(reconnects(run.pipeline)).toBe(0);
  });

  test('does not hang up while the window is full, in the middle of a large transaction', async () => {
    const rows = 50_000;
    await using db = await testDatabase();
    const outbox = withTimeout(await createOutbox(db));
    const witness = await PostgresCommitWitness.start(db);
    await using run = await running(outbox, {
      behaviour: { hold: ['*'] },
      tuning: { window: { events: 500 } },
    });
    await db.pool.query(
      `INSERT INTO outbox (key, payload) SELECT 'k' || i % 100, repeat('x', 300) FROM generate_series(1, $1::int) i`,
      [rows],
    );
    // The socket alone is paused for a moment before that, while it is asked whether the transaction is visible.
    const isPaused = (): boolean => {
      const { paused, source } = run.pipeline.status();
      return paused === 'window' && source?.state === 'paused';
    };
    await waitUntil('the window is full and the socket is not read', isPaused);
    await watchFor(longMs, 'paused and connected', isPaused);
    run.handler.release();
    await run.history.untilSucceeded(rows);
    expect(reconnects(run.pipeline)).toBe(0);
    expect(judge(await witness.events(), run.history.entries)).toEqual(onceEach);
  });
});

describe('a connection that is dead without a word is given up, and the stream goes on', () => {
  const deadline = { silenceTimeout: 1_000, connectTimeout: 1_000 };

  test.each(['all', 'replication', 'sql'] as const)('when it is idle: %s sessions', async (kind) => {
    await using db = await testDatabase();
    await createOutbox(db);
    await using proxy = await TcpProxy.start(db.url);
    await using run = await running(outboxSource(db, proxy.url), { source: deadline });
    await insertRows(db.pool, rowsOf('k'));
    await run.history.untilSucceeded(1);
    proxy.freeze(kind);
    await insertRows(db.pool, rowsOf('k', 'k'));
    await run.history.untilSucceeded(3, 10_000);
    expect(run.history.ids('started').length).toBe(3);
    expect(reconnects(run.pipeline)).toBe(1);
  });

  test('when the window was full', async () => {
    const rows = 30_000;
    await using db = await testDatabase();
    await createOutbox(db);
    const witness = await PostgresCommitWitness.start(db);
    await using proxy = await TcpProxy.start(db.url);
    await using run = await running(outboxSource(db, proxy.url), {
      source: deadline,
      behaviour: { hold: ['*'] },
      tuning: { window: { events: 100 } },
    });
    await db.pool.query(
      `INSERT INTO outbox (key, payload) SELECT 'k' || i % 50, repeat('x', 300) FROM generate_series(1, $1::int) i`,
      [rows],
    );
    await waitUntil('the socket is not read', () => run.pipeline.status().source?.state === 'paused');
    proxy.freeze();
    run.handler.release();
    await run.history.untilSucceeded(rows);
    expect(reconnects(run.pipeline)).toBeGreaterThan(0);
    expect(judge(await witness.events(), run.history.entries)).toEqual(onceEach);
  });

  test('while the start snapshot is read', async () => {
    const rows = 5_000;
    await using db = await testDatabase();
    await createOutbox(db);
    await insertRows(db.pool, rowsInTurn(rows, 50));
    await using proxy = await TcpProxy.start(db.url);
    await using run = await running(outboxSource(db, proxy.url), {
      source: { ...deadline, start: 'snapshot' },
      behaviour: { hold: ['*'] },
      tuning: { window: { events: 100 } },
    });
    await waitUntil('the window is full', () => run.pipeline.status().paused === 'window');
    proxy.freeze();
    run.handler.release();
    await run.history.untilSucceeded(rows);
    expect(reconnects(run.pipeline)).toBeGreaterThan(0);
    expect(run.history.ids('started').length).toBe(rows);
  });

  test('when new connections are dead too, for a while', async () => {
    await using db = await testDatabase();
    await createOutbox(db);
    await using proxy = await TcpProxy.start(db.url);
    await using run = await running(outboxSource(db, proxy.url), { source: deadline });
    proxy.freezeNewOnes();
    proxy.freeze();
    await insertRows(db.pool, rowsOf('k'));
    await waitUntil('it connects in vain', () => run.log.count('connecting again') >= 2);
    expect(run.pipeline.status()).toMatchObject({ state: 'running', source: { state: 'reconnecting' } });
    proxy.thaw();
    await run.history.untilSucceeded(1);
    expect(run.history.ids('started').length).toBe(1);
  });

  test.each([
    ['the SQL session before its first answer', { connection: 1, chunks: 3 }],
    ['the SQL session between two answers', { connection: 1, chunks: 6 }],
    ['the one that asks which server this is', { connection: 2, chunks: 3 }],
    ['the replication session before the stream starts', { connection: 3, chunks: 3 }],
  ])('when a new one dies while it is being set up: %s', async (_, doomed) => {
    await using db = await testDatabase();
    await createOutbox(db);
    await using proxy = await TcpProxy.start(db.url);
    await using run = await running(outboxSource(db, proxy.url), { source: deadline });
    proxy.freezeLater(doomed);
    await db.pool.query(
      `SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = $1`,
      [db.slot()],
    );
    await insertRows(db.pool, rowsOf('k'));
    await run.history.untilSucceeded(1, 10_000);
    expect(run.history.ids('started').length).toBe(1);
    expect(run.log.count('connecting again'), 'in vain once').toBeGreaterThanOrEqual(2);
  });
});

describe('Postgres', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ exclusive: true });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('is killed under load and comes back: nothing is lost, and nothing comes twice', async () => {
    await using db = await testDatabase(server.url);
    const outbox = await createOutbox(db);
    const witness = await PostgresCommitWitness.start(db);
    await using run = await running(outbox, { behaviour: { delay: 5, jitter: true } });
    await using writers = new OutboxWriters(() => PostgresOutboxSession.open(db.url), { tolerant: true });
    for (let kill = 0; kill < 2; kill += 1) {
      await run.history.untilSucceeded(run.history.succeeded.size + 200);
      await server.kill();
      await waitUntil('it connects in vain', () => run.pipeline.status().source?.state === 'reconnecting');
      await server.start();
    }
    await run.history.untilSucceeded(run.history.succeeded.size + 200);
    await writers.stop();
    const committed = await witness.events();
    await run.history.untilSucceeded(committed.length);
    expect(judge(committed, run.history.entries)).toEqual(onceEach);
    expect(reconnects(run.pipeline)).toBeGreaterThanOrEqual(2);
  });

  test.each([
    ['idle', 0],
    ['while handlers run', 20],
    ['while the window is full and the socket is not read', 30_000],
  ])('is stopped (fast) %s: it stops promptly, and once it is back the stream goes on', async (_, rows) => {
    await using db = await testDatabase(server.url);
    const outbox = await createOutbox(db);
    await using run = await running(outbox, {
      behaviour: { hold: ['*'] },
      tuning: { window: { events: 100 } },
    });
    const insert = `INSERT INTO outbox (key, payload) SELECT 'k' || i % 10, repeat('x', 300) FROM generate_series(1, $1::int) i`;
    if (rows > 0) await db.pool.query(insert, [rows]);
    const window = Math.min(rows, 100);
    await waitUntil('it is as far as it gets', () => run.pipeline.status().unsettled === window);
    if (rows > 10_000) {
      await waitUntil('the socket is not read', () => run.pipeline.status().source?.state === 'paused');
    }

    const stopping = performance.now();
    await server.stop('fast');
    expect(performance.now() - stopping).toBeLessThan(5_000);
    await server.start();
    run.handler.release();
    await db.pool.query(insert, [10]);
    await run.history.untilSucceeded(rows + 10);
    expect(run.history.ids('started').length).toBe(rows + 10);
    expect(reconnects(run.pipeline)).toBe(1);
  });
});

describe('Redis', () => {
  test('is killed: the pipeline works on within its window, pauses visibly, and goes on once Redis is back', async () => {
    await using redis = await startRedis({ exclusive: true });
    await using db = await testDatabase();
    const outbox = await createOutbox(db);
    const witness = await PostgresCommitWitness.start(db);
    const window = { events: 200 };
    await using run = await running(outbox, {
      behaviour: { delay: 2 },
      offsets: redisOffsets({ url: redis.url, keyPrefix: 'killed', commandTimeout: 200 }),
      tuning: { window },
    });
    await insertRows(db.pool, rowsInTurn(100, 10));
    await run.history.untilSucceeded(100);
    await waitUntil('all is saved', () => run.pipeline.status().unsaved === 0);

    await redis.kill();
    await insertRows(db.pool, rowsInTurn(1_000, 10));
    await waitUntil('it pauses', () => run.pipeline.status().paused === 'offsets');
    await waitUntil('what was let in is settled', () => run.pipeline.status().unsettled === 0);
    await waitUntil('a commit has failed', () => !run.pipeline.status().offsetsAvailable);
    const { unsaved, state } = run.pipeline.status();
    expect(state).toBe('running');
    expect(unsaved, 'it worked on').toBeGreaterThanOrEqual(window.events);
    expect(unsaved, 'and stopped').toBeLessThan(2 * window.events);
    await watchFor(500, 'paused', () => {
      const status = run.pipeline.status();
      return status.paused === 'offsets' && status.unsaved === unsaved;
    });

    await redis.start();
    await run.history.untilSucceeded(1_100);
    await waitUntil('all is saved', () => run.pipeline.status().unsaved === 0);
    expect(run.pipeline.status()).toMatchObject({ paused: null, offsetsAvailable: true });
    expect(judge(await witness.events(), run.history.entries)).toEqual(onceEach);
  });

  test('loses the offset: its owner writes it anew, and a restart goes on from there', async () => {
    await using redis = await testRedis();
    await using db = await testDatabase();
    const outbox = await createOutbox(db);
    const open = (): OffsetStore => redisOffsets({ url: redis.url, keyPrefix: redis.prefix });
    const key = `${redis.prefix}:{alive}:offset`;
    {
      await using run = await running(outbox, { offsets: open(), behaviour: { hold: ['slow'] } });
      await insertRows(db.pool, rowsOf('slow', 'k', 'k'));
      await run.history.untilSucceeded(2);
      await waitUntil('all is saved', () => run.pipeline.status().unsaved === 0);
      const before = await redis.client.hgetall(key);
      await redis.client.del(key);
      await insertRows(db.pool, rowsOf('k'));
      await waitUntil('it is there again', () => redis.client.exists(key));
      await waitUntil('all is saved', () => run.pipeline.status().unsaved === 0);
      expect(run.log.has('the offset store had lost the offset')).toBe(true);
      const after = await redis.client.hgetall(key);
      expect(after).toMatchObject({ epoch: before['epoch'], watermark: before['watermark'] });
      run.handler.release();
      await run.history.untilSucceeded(4);
    }
    await using run = await running(outbox, { offsets: open() });
    await insertRows(db.pool, rowsOf('k'));
    await run.history.untilSucceeded(1);
    expect(run.history.ids('started').length, 'only the new one').toBe(1);
  });
});
