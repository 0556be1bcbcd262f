import { startPostgres, type PostgresServer } from '@strandline/servers';
import {
  createOutbox,
  insertRows,
  judge,
  MemoryHistory,
  onceEach,
  PostgresCommitWitness,
  recorded,
  rowsOf,
  ScriptedHandler,
  testDatabase,
  TestLog,
  waitUntil,
  watchFor,
  type OutboxSource,
  type TestDatabase,
} from '@strandline/test-kit';
import pg from 'pg';
import { definePipeline, memoryOffsets, postgres, type Pipeline } from 'strandline';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({
    exclusive: true,
    settings: {
      max_prepared_transactions: '10',
      // A session that asks for it waits for a standby that does not exist; the others do not.
      synchronous_standby_names: 'nobody',
      synchronous_commit: 'local',
    },
  });
});
afterAll(() => server[Symbol.asyncDispose]());
afterEach(() => vi.restoreAllMocks());

/** A handler that reads the row that it is told about, over connections of its own, and keeps what it did not find. */
class Reader implements AsyncDisposable {
  readonly history = new MemoryHistory();
  readonly unseen: string[] = [];
  readonly #pool: pg.Pool;

  constructor(db: TestDatabase) {
    this.#pool = new pg.Pool({ connectionString: db.url, max: 8 });
  }

  pipeline(outbox: OutboxSource, visibility?: 'committed' | 'logged'): Pipeline {
    return definePipeline({
      name: 'reader',
      source: postgres({ ...outbox, ...(visibility && { visibility }) }),
      offsets: memoryOffsets(),
      log: new TestLog(),
      handle: (event, { attempt }) =>
        recorded(this.history.record, { run: 1, attempt, events: [event] }, async () => {
          const { rows } = await this.#pool.query('SELECT FROM outbox WHERE id = $1', [event.id]);
          if (rows.length === 0) this.unseen.push(event.id);
        }),
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool.end();
  }
}

/** Counts from now on how often the server is asked for a snapshot. */
function countQuestions(): () => number {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  return () =>
    query.mock.calls.filter((call) => JSON.stringify(call).includes('pg_current_snapshot()')).length;
}

/** A session whose commits wait for a standby: they are in the log, and visible to nobody. */
class InvisibleCommits implements AsyncDisposable {
  readonly client: pg.Client;
  readonly #db: TestDatabase;
  #committing: Promise<unknown> = Promise.resolve();

  static async open(db: TestDatabase): Promise<InvisibleCommits> {
    const client = new pg.Client({ connectionString: db.url, options: '-c synchronous_commit=on' });
    await client.connect();
    return new InvisibleCommits(db, client);
  }

  private constructor(db: TestDatabase, client: pg.Client) {
    this.#db = db;
    this.client = client;
  }

  /** Sends a statement that commits; resolves when the commit is in the log and has been sent to the pipeline. */
  async commit(sql: string): Promise<void> {
    this.#committing = this.client.query(sql);
    this.#committing.catch(() => undefined);
    await this.#db.waitFor(
      'the commit is in the log and has been sent',
      `SELECT sent_lsn >= pg_current_wal_lsn() FROM pg_stat_replication JOIN pg_replication_slots ON active_pid = pid
       WHERE slot_name = $1 AND EXISTS (SELECT FROM pg_stat_activity WHERE pid = $2 AND wait_event = 'SyncRep')`,
      [this.#db.slot(), this.#pid],
    );
  }

  /** Ends the wait: the commit stands, and becomes visible. */
  async show(): Promise<void> {
    await this.#db.pool.query('SELECT pg_cancel_backend($1)', [this.#pid]);
    await this.#committing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.show();
    await this.client.end();
  }

  get #pid(): number {
    return (this.client as unknown as { processID: number }).processID;
  }
}

describe("with visibility: 'committed', the default", () => {
  test('a handler always finds the row that it is told about, at 2,000 rows a second', async () => {
    const rows = 4_000;
    await using db = await testDatabase(server.url);
    const outbox = await createOutbox(db);
    const witness = await PostgresCommitWitness.start(db);
    await using reader = new Reader(db);
    await using pipeline = reader.pipeline(outbox);
    await pipeline.start();
    const questions = countQuestions();
    await commitPaced(db, rows);
    await reader.history.untilSucceeded(rows);

    expect(reader.unseen).toEqual([]);
    expect(judge(await witness.events(), reader.history.entries)).toEqual(onceEach);
    expect((await witness.transactions()).length, 'transactions').toBe(rows);
    // On an idle machine a question is answered before the next transaction commits; one in a few comes too early.
    expect(questions()).toBeLessThan(1.5 * rows);
  });

  test('a backlog of 2,000 transactions takes a handful of questions', async () => {
    const rows = 2_000;
    await using db = await testDatabase(server.url);
    const outbox = await createOutbox(db);
    await using reader = new Reader(db);
    await using first = reader.pipeline(outbox);
    await first.start();
    await first.stop();
    await commitPaced(db, rows);
    const questions = countQuestions();
    await using pipeline = reader.pipeline(outbox);
    await pipeline.start();
    await reader.history.untilSucceeded(rows);
    expect(reader.unseen).toEqual([]);
    expect(questions()).toBeLessThan(20);
  });

  test('an event waits until its transaction can be seen, and those before it do not wait for it', async () => {
    await using db = await testDatabase(server.url);
    const outbox = await createOutbox(db);
    await using reader = new Reader(db);
    await using pipeline = reader.pipeline(outbox);
    await pipeline.start();
    await using invisible = await InvisibleCommits.open(db);
    const [before = ''] = await insertRows(db.pool, rowsOf('k'));
    await reader.history.until('the one before is done', () => reader.history.succeeded.has(before));

    await invisible.commit(`INSERT INTO outbox (key) VALUES ('waits')`);
    const [after = ''] = await insertRows(db.pool, rowsOf('k'));
    await watchFor(
      500,
      'only the one before was handed out',
      () => reader.history.ids('started').length === 1,
    );
    await invisible.show();
    await reader.history.untilSucceeded(3);
    expect(reader.unseen).toEqual([]);
    expect(reader.history.ids('started')).toEqual([before, String(Number(after) - 1), after]);
  });

  test.each([
    ['a prepared transaction', 'COMMIT PREPARED', true],
    ['a transaction with subtransactions', 'COMMIT', false],
  ])('also the rows of %s', async (_, commit, isPrepared) => {
    await using db = await testDatabase(server.url);
    const outbox = await createOutbox(db);
    const witness = await PostgresCommitWitness.start(db);
    await using reader = new Reader(db);
    await using pipeline = reader.pipeline(outbox);
    await pipeline.start();
    await using invisible = await InvisibleCommits.open(db);
    const { client } = invisible;

    await client.query('BEGIN');
    const ids = await insertRows(client, rowsOf('k'));
    // Subtransactions have ids of their own; more than 64 of them do not fit into the list that snapshots look at.
    for (let depth = 0; depth < 100; depth += 1) {
      await client.query(`SAVEPOINT s`);
      const inserted = await insertRows(client, rowsOf('k'));
      if (depth % 10 === 3) await client.query('ROLLBACK TO SAVEPOINT s');
      else ids.push(...inserted);
    }
    if (isPrepared) {
      await client.query(`SET LOCAL synchronous_commit = local`);
      await client.query(`PREPARE TRANSACTION '${db.name}'`);
    }
    await invisible.commit(isPrepared ? `${commit} '${db.name}'` : commit);
    await watchFor(300, 'nothing was handed out', () => reader.history.entries.length === 0);
    await invisible.show();
    await reader.history.untilSucceeded(ids.length);

    expect(reader.unseen).toEqual([]);
    expect(reader.history.ids('succeeded')).toEqual(ids);
    expect(judge(await witness.events(), reader.history.entries)).toEqual(onceEach);
  });
});

describe("with visibility: 'logged'", () => {
  test('an event comes as soon as it is in the log: the handler may not find its row yet', async () => {
    await using db = await testDatabase(server.url);
    const outbox = await createOutbox(db);
    await using reader = new Reader(db);
    await using pipeline = reader.pipeline(outbox, 'logged');
    await pipeline.start();
    await using invisible = await InvisibleCommits.open(db);
    await invisible.commit(`INSERT INTO outbox (key) VALUES ('k')`);
    await reader.history.untilSucceeded(1);
    expect(reader.unseen).toEqual([...reader.history.succeeded]);
  });

  test('nothing is asked', async () => {
    await using db = await testDatabase(server.url);
    const outbox = await createOutbox(db);
    const history = new MemoryHistory();
    const handler = new ScriptedHandler(history.record);
    await using pipeline = definePipeline({
      name: 'logged',
      source: postgres({ ...outbox, visibility: 'logged' }),
      offsets: memoryOffsets(),
      log: new TestLog(),
      handle: handler.handle,
    });
    await pipeline.start();
    const questions = countQuestions();
    await commitPaced(db, 500);
    await history.untilSucceeded(500);
    expect(questions()).toBe(0);
  });
});

/** Commits transactions of one row, about 2,000 a second. */
async function commitPaced(db: TestDatabase, rows: number): Promise<void> {
  const writers = 8;
  const start = performance.now();
  let next = 0;
  const write = async (): Promise<void> => {
    const client = await db.pool.connect();
    try {
      while (next < rows) {
        const place = next;
        next += 1;
        const isEarly = (): boolean => performance.now() < start + place / 2;
        await waitUntil('it is its turn', () => !isEarly(), { everyMs: 1 });
        await client.query(`INSERT INTO outbox (key) VALUES ($1)`, [`k${String(place % 50)}`]);
      }
    } finally {
      client.release();
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
}
