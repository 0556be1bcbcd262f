import { setTimeout as sleep } from 'node:timers/promises';
import { startMariadb, startMysql, type MysqlServer } from '@strandline/servers';
import {
  createMysqlOutbox,
  faultless,
  idsOf,
  insertMysqlRows,
  judge,
  MemoryHistory,
  MysqlCommitWitness,
  MysqlOutboxSession,
  mysqlOutboxSource,
  mysqlPlaceOf,
  onceEach,
  OutboxWriters,
  recorded,
  rowsInTurn,
  rowsOf,
  ScriptedHandler,
  TcpProxy,
  TestLog,
  testMysqlDatabase,
  waitUntil,
  watchFor,
  type HandlerBehaviour,
  type MysqlOutboxSource,
  type TestMysqlDatabase,
} from '@strandline/test-kit';
import {
  definePipeline,
  memoryOffsets,
  mysql,
  type MysqlOptions,
  type Pipeline,
  type PipelineOptions,
} from 'strandline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

interface Setup {
  readonly behaviour?: HandlerBehaviour;
  readonly source?: Partial<MysqlOptions>;
  readonly tuning?: Partial<PipelineOptions>;
}

/** A pipeline that has started, its handler and what that did. */
async function running(
  outbox: MysqlOutboxSource,
  { behaviour = {}, source = {}, tuning = {} }: Setup = {},
): Promise<
  { history: MemoryHistory; handler: ScriptedHandler; pipeline: Pipeline; log: TestLog } & AsyncDisposable
> {
  const history = new MemoryHistory();
  const handler = new ScriptedHandler(history.record, behaviour);
  const log = new TestLog();
  const pipeline = definePipeline({
    name: 'alive',
    source: mysql({ ...outbox, reconnect: { initialDelay: 20, maxDelay: 200 }, ...source }),
    offsets: memoryOffsets(),
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
const isPaused = ({ pipeline }: { readonly pipeline: Pipeline }): boolean =>
  pipeline.status().source?.state === 'paused';

/** More than the source and the buffers of the network hold, in transactions of a thousand rows. */
async function insertMuch(db: TestMysqlDatabase, transactions: number): Promise<number> {
  const rows = rowsInTurn(1_000, 50).map(({ key }) => ({ key, payload: 'x'.repeat(1_000) }));
  for (let count = 0; count < transactions; count += 1) await insertMysqlRows(db.pool, rows);
  return transactions * rows.length;
}

/** A second before its run's last sign: by then the offset knew it. */
function wasSettledLongBefore({ entries }: MemoryHistory, id: string): boolean {
  const settled = entries.find(({ what, ids: [of] }) => what === 'succeeded' && of === id);
  const last = entries.findLast(({ run }) => run === settled?.run);
  return settled !== undefined && last !== undefined && last.at - settled.at > 1_000;
}

describe.each([
  ['mysql', startMysql],
  ['mariadb', startMariadb],
] as const)('%s', (kind, start) => {
  /** Seconds that it waits for a reader that does not read. */
  const netWriteTimeout = 2;
  let server: MysqlServer;
  beforeAll(async () => {
    server = await start({ exclusive: true, settings: { 'net-write-timeout': String(netWriteTimeout) } });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('does not hang up on a socket that is not read for longer than it waits for others', async () => {
    await using db = await testMysqlDatabase(kind, server.url);
    const outbox = await createMysqlOutbox(db);
    const witness = await MysqlCommitWitness.start(db);
    await using run = await running(outbox, {
      behaviour: { hold: ['*'] },
      source: { silenceTimeout: 2_000 },
      tuning: { window: { events: 100 } },
    });
    const rows = await insertMuch(db, 60);
    await waitUntil('the socket is not read', () => isPaused(run));
    await watchFor(netWriteTimeout * 2_500, 'paused and connected', () => isPaused(run));
    run.handler.release();
    await run.history.untilSucceeded(rows);
    expect(reconnects(run.pipeline)).toBe(0);
    expect(judge(await witness.events(), run.history.entries, { placeOf: mysqlPlaceOf })).toEqual(onceEach);
  });

  test('is killed under load and comes back: nothing is lost', async () => {
    await using db = await testMysqlDatabase(kind, server.url);
    const outbox = await createMysqlOutbox(db);
    const witness = await MysqlCommitWitness.start(db);
    const history = new MemoryHistory();
    const log = new TestLog();
    await using pipeline = definePipeline({
      name: 'alive',
      source: mysql({ ...outbox, reconnect: { initialDelay: 20, maxDelay: 200 } }),
      offsets: memoryOffsets(),
      log,
      // Each term of ownership begins at the saved offset, as a new process does.
      handle: (event, { attempt }) =>
        recorded(history.record, { run: pipeline.status().epoch ?? 0, attempt, events: [event] }, () =>
          sleep(Math.random() * 5),
        ),
    });
    await pipeline.start();
    await using writers = new OutboxWriters(() => MysqlOutboxSession.open(db), { tolerant: true });
    for (let kill = 1; kill <= 2; kill += 1) {
      await history.untilSucceeded(history.succeeded.size + 200);
      await server.kill();
      // The lock is gone with its connection, and with it the ownership.
      await waitUntil('it notices', () => log.count('lost the ownership') === kill);
      await server.start();
    }
    await history.untilSucceeded(history.succeeded.size + 200);
    await writers.stop();
    const committed = await witness.events();
    await history.untilSucceeded(committed.length);
    const judgement = judge(committed, history.entries, { placeOf: mysqlPlaceOf });
    expect(judgement).toMatchObject(faultless);
    expect(idsOf(judgement.duplicates).filter((id) => wasSettledLongBefore(history, id))).toEqual([]);
    expect(pipeline.status().epoch).toBe(3);
  });
});

describe.each(['mysql', 'mariadb'] as const)('%s: a connection that is dead without a word', (kind) => {
  const deadline = { silenceTimeout: 1_500, connectTimeout: 1_000 };

  test('is given up when it is the dump, idle, and the stream goes on', async () => {
    await using db = await testMysqlDatabase(kind);
    await createMysqlOutbox(db);
    await using proxy = await TcpProxy.start(db.url);
    await using run = await running(mysqlOutboxSource(proxy.url), { source: deadline });
    await insertMysqlRows(db.pool, rowsOf('k'));
    await run.history.untilSucceeded(1);
    proxy.freeze('replication');
    await insertMysqlRows(db.pool, rowsOf('k', 'k'));
    await run.history.untilSucceeded(3, 10_000);
    expect(run.history.ids('started').length).toBe(3);
    expect(reconnects(run.pipeline)).toBe(1);
    expect(run.pipeline.status().epoch, 'it was the owner all along').toBe(1);
  });

  test('is not given up because it is idle: the server gives signs of life', async () => {
    await using db = await testMysqlDatabase(kind);
    const outbox = await createMysqlOutbox(db);
    await using run = await running(outbox, { source: deadline });
    await watchFor(4_000, 'connected', () => run.pipeline.status().source?.state === 'streaming');
    expect(reconnects(run.pipeline)).toBe(0);
  });

  test('is given up when it is the dump, and the socket was not read', async () => {
    await using db = await testMysqlDatabase(kind);
    await createMysqlOutbox(db);
    const witness = await MysqlCommitWitness.start(db);
    await using proxy = await TcpProxy.start(db.url);
    await using run = await running(mysqlOutboxSource(proxy.url), {
      source: deadline,
      behaviour: { hold: ['*'] },
      tuning: { window: { events: 100 } },
    });
    const rows = await insertMuch(db, 40);
    await waitUntil('the socket is not read', () => isPaused(run));
    proxy.freeze('replication');
    run.handler.release();
    await run.history.untilSucceeded(rows);
    expect(reconnects(run.pipeline)).toBeGreaterThan(0);
    expect(judge(await witness.events(), run.history.entries, { placeOf: mysqlPlaceOf })).toEqual(onceEach);
  });

  test.each(['sql', 'all'] as const)(
    'loses the ownership when it is the one that holds the lock, and has it again once the server lets go: %s sessions',
    async (which) => {
      await using db = await testMysqlDatabase(kind);
      await createMysqlOutbox(db);
      await using proxy = await TcpProxy.start(db.url);
      await using run = await running(mysqlOutboxSource(proxy.url), { source: deadline });
      await insertMysqlRows(db.pool, rowsOf('k'));
      await run.history.untilSucceeded(1);
      await waitUntil('it is saved', () => run.pipeline.status().unsaved === 0);
      proxy.freeze(which);
      await waitUntil('it is lost', () => run.log.has('lost the ownership'));
      expect(run.pipeline.status().epoch).toBe(1);
      await insertMysqlRows(db.pool, rowsOf('k', 'k'));
      await run.history.untilSucceeded(3, 15_000);
      expect(run.history.ids('started').length).toBe(3);
      expect(run.pipeline.status().epoch).toBe(2);
    },
  );
});
