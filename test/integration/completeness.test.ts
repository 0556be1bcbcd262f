import { startPostgres } from '@strandline/servers';
import {
  checkHistory,
  CommitWitness,
  createOutbox,
  insertRows,
  MemoryHistory,
  OutboxWriters,
  PipelineRuns,
  rowsInTurn,
  ScriptedHandler,
  testDatabase,
  TestLog,
  testRedis,
  waitUntil,
  type CommittedEvent,
  type CommittedTransaction,
  type TestDatabase,
} from '@strandline/test-kit';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { definePipeline, memoryOffsets, postgres } from 'strandline';
import { describe, expect, test } from 'vitest';

/** For tests that start a process again and again, on a machine that is busy with others. */
const timeout = 150_000;

describe('every insert committed after the start reaches the handler', () => {
  test.each([
    ['both commits sent at once, the process killed while the second is handled', 'together'],
    ['the process killed before the second commits', 'apart'],
  ] as const)('also the second of two transactions whose commit records touch: %s', async (_, kind) => {
    const rounds = kind === 'together' ? 5 : 10;
    // On a server of its own: nothing else writes between the two commits.
    await using server = await startPostgres({ exclusive: true });
    await using db = await testDatabase(server.url);
    const source = await createOutbox(db);
    const witness = await CommitWitness.start(db);
    await using sessions = await TwoSessions.open(db);
    await using runs = await PipelineRuns.prepare({ name: 'touching', source, behaviour: { hold: ['*'] } });
    const { history } = runs;
    let life = await runs.start();

    const handle = async ({ id, key }: CommittedEvent): Promise<void> => {
      life.release(key);
      await history.until(`event ${id} had succeeded`, () => history.succeeded.has(id), 10_000);
    };
    for (let touching = 0, tried = 0; touching < rounds; tried += 1) {
      expect(tried, 'something else writes to this server between two commits').toBeLessThan(2 * rounds);
      await sessions.open(`x${String(tried)}`, `y${String(tried)}`);
      await sessions.commit(...(kind === 'together' ? [0, 1] : [0]));
      const seen = await witness.transactions();
      const first = at(seen, kind === 'together' ? -2 : -1);
      await handle(first.event);
      // Apart, the slot is confirmed up to the end of the first to the byte, which is where the second starts.
      const confirmed = kind === 'together' ? first.commitLsn : first.endLsn;
      await db.waitFor('the first is confirmed', confirmedUpTo, [db.slot(), String(confirmed)]);
      await life.kill();
      if (kind === 'apart') await sessions.commit(1);
      const second = at(await witness.transactions(), -1);
      if (second.commitLsn === first.endLsn) touching += 1;
      life = await runs.start();
      await handle(second.event);
    }
    expect(checkHistory(await witness.events(), history.entries)).toMatchObject({
      missing: [],
      violations: [],
    });
    expect(await life.stop()).toEqual({ code: 0, signal: null });
  });

  test.each(['file', 'redis'] as const)(
    'when the process is killed at random instants under load, with offsets in: %s',
    { timeout },
    async (kind) => {
      const kills = 8;
      await using db = await testDatabase();
      await using redis = await testRedis();
      const source = await createOutbox(db);
      const witness = await CommitWitness.start(db);
      await using runs = await PipelineRuns.prepare(
        {
          name: 'kills',
          source: { ...source, reconnect: { maxDelay: 200 } },
          tuning: { retry: { attempts: 1_000, initialDelay: 5, maxDelay: 50 } },
          behaviour: { delay: 10, jitter: true, failRate: 0.05 },
        },
        kind === 'file' ? undefined : { kind, url: redis.url, keyPrefix: redis.prefix },
      );
      const { history } = runs;
      // The slot is there from the first start on: what commits before it is not promised.
      await (await runs.start()).kill();

      await using writers = new OutboxWriters(db.url);
      for (let kill = 0; kill < kills; kill += 1) {
        const life = runs.launch();
        const fromLaunch = kill % 4 === 3;
        if (!fromLaunch) {
          const hasStarted = (): boolean => history.ids('started', life.run).length > 0;
          await history.until(`run ${String(life.run)} handles events`, hasStarted);
        }
        // An instant that nothing chose: it falls into start, reading, handling, saving or confirming.
        await sleep(Math.random() * (fromLaunch ? 1_000 : 300));
        await life.kill();
      }
      await writers.stop();
      const last = await runs.start();
      const committed = await witness.events();
      await history.untilSucceeded(committed.length);
      expect(await last.stop()).toEqual({ code: 0, signal: null });

      expect(committed.length).toBeGreaterThan(500);
      expect(checkHistory(committed, history.refresh().entries)).toMatchObject({
        missing: [],
        violations: [],
      });
    },
  );

  test('when its sessions with the server are terminated under load, and none of them twice', async () => {
    await using db = await testDatabase();
    const source = postgres({ ...(await createOutbox(db)), reconnect: { initialDelay: 10, maxDelay: 50 } });
    const witness = await CommitWitness.start(db);
    const history = new MemoryHistory();
    const handler = new ScriptedHandler(history.record, { delay: 5, jitter: true });
    await using pipeline = definePipeline({
      name: 'cuts',
      source,
      offsets: memoryOffsets(),
      log: new TestLog(),
      handle: handler.handle,
    });
    await pipeline.start();

    await using writers = new OutboxWriters(db.url);
    const sessions = ['walsender', 'client backend', 'walsender', 'client backend', '%', '%'];
    for (const [cut, kind] of sessions.entries()) {
      await history.untilSucceeded(history.succeeded.size + 50);
      const { rows } = await db.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE 'strandline/%' AND backend_type LIKE $1`,
        [kind],
      );
      expect(rows.length).toBe(kind === '%' ? 2 : 1);
      await waitUntil('it is connected again', () => (pipeline.status().source?.reconnects ?? 0) > cut);
    }
    await writers.stop();
    const committed = await witness.events();
    await history.untilSucceeded(committed.length);

    expect(checkHistory(committed, history.entries)).toEqual({
      missing: [],
      violations: [],
      redelivered: [],
    });
    expect(history.ids('started').length).toBe(committed.length);
  });

  test('all rows of a statement and of a transaction, in the order in which they were inserted', async () => {
    await using db = await testDatabase();
    const source = postgres(await createOutbox(db));
    const witness = await CommitWitness.start(db);
    const history = new MemoryHistory();
    await using pipeline = definePipeline({
      name: 'rows',
      source,
      offsets: memoryOffsets(),
      concurrency: 1,
      log: new TestLog(),
      handle: new ScriptedHandler(history.record).handle,
    });
    await pipeline.start();

    // All rows of a transaction have the same created_at; the ids go down, so that neither can decide the order.
    const expected: string[] = [];
    const insert = async (count: number): Promise<void> => {
      const base = 1_000_000 - expected.length;
      const ids = Array.from({ length: count }, (_, index) => String(base - index));
      expected.push(...ids);
      await client.query(`INSERT INTO outbox (id, key) SELECT id, 'k' FROM unnest($1::bigint[]) AS id`, [
        ids,
      ]);
    };
    const client = await db.pool.connect();
    try {
      await insert(1_000);
      await client.query('BEGIN');
      for (const count of [1, 2, 300, 1, 50]) await insert(count);
      await client.query('COMMIT');
    } finally {
      client.release();
    }
    expected.push(...(await insertRows(db.pool, rowsInTurn(500, 7))));
    await history.untilSucceeded(expected.length);

    const committed = await witness.events();
    expect(committed.map(({ id }) => id)).toEqual(expected);
    expect(checkHistory(committed, history.entries)).toEqual({
      missing: [],
      violations: [],
      redelivered: [],
    });
    const { rows } = await db.pool.query('SELECT DISTINCT created_at FROM outbox');
    expect(rows.length, 'transactions').toBe(3);
  });
});

const confirmedUpTo = `SELECT confirmed_flush_lsn >= '0/0'::pg_lsn + $2::numeric FROM pg_replication_slots
  WHERE slot_name = $1`;

/** A transaction of one row, counted from the end of the list. */
function at(
  transactions: readonly CommittedTransaction[],
  index: number,
): CommittedTransaction & { readonly event: CommittedEvent } {
  const transaction = transactions.at(index);
  const event = transaction?.events[0];
  if (transaction === undefined || event === undefined)
    throw new Error('The witness saw no such transaction.');
  return { ...transaction, event };
}

/** Two sessions with a transaction each. */
class TwoSessions implements AsyncDisposable {
  readonly #clients: readonly pg.Client[];

  static async open(db: TestDatabase): Promise<TwoSessions> {
    const clients = [1, 2].map(() => new pg.Client({ connectionString: db.url }));
    for (const client of clients) await client.connect();
    return new TwoSessions(clients);
  }

  private constructor(clients: readonly pg.Client[]) {
    this.#clients = clients;
  }

  /** Begins both and inserts a row in each. */
  async open(...keys: readonly string[]): Promise<void> {
    for (const [index, client] of this.#clients.entries()) {
      await client.query('BEGIN');
      await client.query('INSERT INTO outbox (key) VALUES ($1)', [keys[index]]);
    }
  }

  /** Commits these in the same instant. */
  async commit(...indices: readonly number[]): Promise<void> {
    await Promise.all(indices.map(async (index) => this.#clients[index]?.query('COMMIT')));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) await client.end();
  }
}
