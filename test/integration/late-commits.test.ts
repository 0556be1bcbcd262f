import type { Offset } from '@strandline/core';
import {
  checkHistory,
  CommitWitness,
  createOutbox,
  insertRows,
  MemoryHistory,
  OutboxWriters,
  rowsOf,
  ScriptedHandler,
  testDatabase,
  TestLog,
  waitUntil,
} from '@strandline/test-kit';
import pg from 'pg';
import { definePipeline, memoryOffsets, postgres, type Pipeline } from 'strandline';
import { describe, expect, test } from 'vitest';

/** What most outbox readers do: remember the highest id, ask for higher ones. */
class IdCursor {
  readonly seen: string[] = [];
  readonly #pool: pg.Pool;
  #last = '0';

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async poll(): Promise<void> {
    const { rows } = await this.#pool.query<{ id: string }>(
      'SELECT id FROM outbox WHERE id > $1 ORDER BY id',
      [this.#last],
    );
    this.seen.push(...rows.map(({ id }) => id));
    this.#last = this.seen.at(-1) ?? '0';
  }
}

async function session(url: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

describe('a row whose transaction took a small id and committed late', () => {
  test('is delivered, in commit order, and an id cursor misses it', async () => {
    await using db = await testDatabase();
    const source = postgres(await createOutbox(db));
    const history = new MemoryHistory();
    await using pipeline = definePipeline({
      name: 'late',
      source,
      offsets: memoryOffsets(),
      log: new TestLog(),
      handle: new ScriptedHandler(history.record).handle,
    });
    await pipeline.start();
    const cursor = new IdCursor(db.pool);

    await using late = await session(db.url);
    await late.query('BEGIN');
    const [first = ''] = await insertRows(late, rowsOf('k'));
    const [second = ''] = await insertRows(db.pool, rowsOf('k'));
    expect(Number(first)).toBeLessThan(Number(second));
    await history.untilSucceeded(1);
    await cursor.poll();
    await late.query('COMMIT');
    const [third = ''] = await insertRows(db.pool, rowsOf('k'));
    await history.untilSucceeded(3);
    await cursor.poll();

    expect(history.ids('succeeded')).toEqual([second, first, third]);
    expect(cursor.seen).toEqual([second, third]);
  });

  test('is delivered also when the pipeline has moved on and was restarted before it committed', async () => {
    await using db = await testDatabase();
    const source = await createOutbox(db);
    const history = new MemoryHistory();
    const storage = new Map<string, Offset>();
    const start = async (run: number): Promise<Pipeline> => {
      const pipeline = definePipeline({
        name: 'late',
        source: postgres(source),
        offsets: memoryOffsets({ storage }),
        log: new TestLog(),
        handle: new ScriptedHandler(history.record, {}, run).handle,
      });
      await pipeline.start();
      return pipeline;
    };

    await using late = await session(db.url);
    let first = '';
    {
      await using before = await start(1);
      await late.query('BEGIN');
      [first = ''] = await insertRows(late, rowsOf('k'));
      for (let count = 1; count <= 20; count += 1) {
        await insertRows(db.pool, rowsOf('k'));
        await history.untilSucceeded(count);
      }
      const passed = `SELECT confirmed_flush_lsn > $2::pg_lsn FROM pg_replication_slots WHERE slot_name = $1`;
      const { rows } = await db.pool.query<{ lsn: string }>(
        'SELECT pg_current_wal_insert_lsn()::text AS lsn',
      );
      await insertRows(db.pool, rowsOf('k'));
      await db.waitFor('the slot is confirmed past the insert', passed, [db.slot(), rows[0]?.lsn]);
      expect(before.status().unsettled).toBe(0);
    }
    await using after = await start(2);
    await late.query('COMMIT');
    await history.untilSucceeded(22);

    expect(history.ids('succeeded', 2)).toEqual([first]);
    expect(after.status().settled).toBe(1);
  });

  test('is one of many: under load the order is that of the commits, and nothing is missed but by the id cursor', async () => {
    await using db = await testDatabase();
    const source = postgres(await createOutbox(db));
    const witness = await CommitWitness.start(db);
    const history = new MemoryHistory();
    await using pipeline = definePipeline({
      name: 'late',
      source,
      offsets: memoryOffsets(),
      log: new TestLog(),
      handle: new ScriptedHandler(history.record).handle,
    });
    await pipeline.start();
    const cursor = new IdCursor(db.pool);

    await using writers = new OutboxWriters(db.url, { writers: 6, linger: 20, keys: 5 });
    await waitUntil('the writers have written', async () => {
      await cursor.poll();
      return writers.committed >= 500;
    });
    await writers.stop();
    await cursor.poll();
    const committed = await witness.events();
    await history.untilSucceeded(committed.length);

    expect(checkHistory(committed, history.entries)).toEqual({
      missing: [],
      violations: [],
      redelivered: [],
    });
    const ids = committed.map(({ id }) => Number(id));
    const idsInCommitOrder = ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? 0));
    expect(idsInCommitOrder, 'whether the ids happen to be in commit order').toBe(false);
    expect(cursor.seen.length).toBeLessThan(committed.length);
  });
});
