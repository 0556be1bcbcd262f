import { setTimeout as sleep } from 'node:timers/promises';
import type { Offset, OffsetStore, OutboxEvent } from '@strandline/core';
import {
  createOutbox,
  insertRows,
  offsetsWith,
  rowsOf,
  testDatabase,
  TestLog,
  waitUntil,
} from '@strandline/test-kit';
import { definePipeline, memoryOffsets, postgres, type Pipeline } from 'strandline';
import { describe, expect, test } from 'vitest';

const NAME = 'snapshot-restart';

/** A store on a shared storage; `loaded` is called with what a load found, before the pipeline has it. */
function storeOn(
  storage: Map<string, Offset>,
  loaded: (offset: Offset | null) => Promise<void> | void = () => undefined,
): OffsetStore {
  const store = memoryOffsets({ storage });
  return offsetsWith(store, {
    async load(pipeline) {
      const offset = await store.load(pipeline);
      await loaded(offset);
      return offset;
    },
  });
}

interface Setup {
  readonly source: Parameters<typeof postgres>[0];
  readonly offsets: OffsetStore;
  readonly log?: TestLog;
  readonly handle: (event: OutboxEvent, ctx: { readonly signal: AbortSignal }) => unknown;
}

function snapshotPipeline({ source, offsets, log = new TestLog(), handle }: Setup): Pipeline {
  return definePipeline({
    name: NAME,
    source: postgres({ ...source, start: 'snapshot' }),
    offsets,
    drainTimeout: 0,
    commitInterval: 10,
    log,
    handle,
  });
}

/** A pipeline that handles the rows of these keys, and is stopped while it has the others in hand. */
async function interrupted(
  source: Setup['source'],
  storage: Map<string, Offset>,
  keys: readonly string[],
  saved: (offset: Offset | undefined) => boolean,
): Promise<void> {
  await using pipeline = snapshotPipeline({
    source,
    offsets: storeOn(storage),
    async handle(event, { signal }) {
      if (keys.includes(event.key)) return;
      await sleep(60_000, undefined, { signal });
    },
  });
  await pipeline.start();
  await waitUntil('the offset is saved', () => saved(storage.get(NAME)));
}

describe('completeness: a start snapshot that is read on', () => {
  test('of a settled run whose rows are gone, the rows behind it are delivered', async () => {
    await using db = await testDatabase();
    const source = await createOutbox(db);
    await insertRows(db.pool, rowsOf('done', 'slow', 'done', 'done', 'late', 'late'));
    const storage = new Map<string, Offset>();
    await interrupted(
      source,
      storage,
      ['done'],
      (offset) => offset?.completed[0]?.last === 'snapshot:["4"]' && offset.watermark === 'snapshot:["1"]',
    );
    // The end of the snapshot may be saved along, as a range of its own.
    expect(storage.get(NAME)?.completed[0]).toEqual({ first: 'snapshot:["3"]', last: 'snapshot:["4"]' });

    await db.pool.query('DELETE FROM outbox WHERE id IN (2, 3, 4)');
    const handled: string[] = [];
    await using pipeline = snapshotPipeline({
      source,
      offsets: storeOn(storage),
      handle: ({ id }) => handled.push(id),
    });
    await pipeline.start();
    await insertRows(db.pool, rowsOf('after'));
    await waitUntil('the new row is handled', () => handled.includes('7'));
    expect(handled).toEqual(['5', '6', '7']);
  });

  test('when a former owner saves between our look at the offset and our claim', async () => {
    await using db = await testDatabase();
    const source = await createOutbox(db);
    await insertRows(db.pool, rowsOf('done', 'slow', 'slow', 'late', 'late'));
    const storage = new Map<string, Offset>();
    await interrupted(source, storage, ['done'], (offset) => offset?.watermark === 'snapshot:["1"]');

    // It has lost its connection to Postgres, not the one to the store; its handlers end, and delete their rows.
    const late = async (offset: Offset | null): Promise<void> => {
      if (offset?.watermark !== 'snapshot:["1"]') return;
      const further = {
        ...offset,
        watermark: 'snapshot:["3"]',
        completed: [],
        revision: offset.revision + 1,
      };
      expect(await memoryOffsets({ storage }).commit(NAME, further)).toBe('saved');
      await db.pool.query('DELETE FROM outbox WHERE id IN (2, 3)');
    };
    const handled: string[] = [];
    await using pipeline = snapshotPipeline({
      source,
      offsets: storeOn(storage, late),
      handle: ({ id }) => handled.push(id),
    });
    await pipeline.start();
    await insertRows(db.pool, rowsOf('after'));
    await waitUntil('the new row is handled', () => handled.includes('6'));
    expect(handled).toEqual(['4', '5', '6']);
  });

  test('two processes that start at once take one snapshot', async () => {
    await using db = await testDatabase();
    const source = await createOutbox(db);
    await insertRows(db.pool, rowsOf('a', 'b', 'c'));
    // Both have found no offset and no slot before either may make one.
    const lock = await db.pool.connect();
    const lockKeys = [db.slot()];
    await lock.query("SELECT pg_advisory_lock(hashtext('strandline'), hashtext($1))", lockKeys);
    const storage = new Map<string, Offset>();
    let loads = 0;
    const log = new TestLog();
    const handled: string[] = [];
    const pipelineOfOne = (): Pipeline =>
      snapshotPipeline({
        source,
        offsets: storeOn(storage, () => {
          loads += 1;
        }),
        log,
        // Nothing settles before the other one has had its turn.
        async handle({ id }) {
          await waitUntil('the other one stands by', () => states().includes('standby'));
          handled.push(id);
        },
      });
    await using first = pipelineOfOne();
    await using second = pipelineOfOne();
    const states = (): string[] => [first, second].map((pipeline) => pipeline.status().state);
    const started = Promise.all([first.start(), second.start()]);
    await waitUntil('both have looked', () => loads === 2);
    await lock.query("SELECT pg_advisory_unlock(hashtext('strandline'), hashtext($1))", lockKeys);
    lock.release();
    await started;
    await insertRows(db.pool, rowsOf('after'));
    await waitUntil('all rows are handled', () => new Set(handled).size === 4);
    expect(log.has('lost the ownership')).toBe(false);
    expect(handled.sort()).toEqual(['1', '2', '3', '4']);
    expect(states().sort()).toEqual(['running', 'standby']);
  });

  test('in the order of an id that is cut by a cast to its type: what was handled stays behind', async () => {
    await using db = await testDatabase();
    const source = await createOutbox(db);
    await db.pool.query('ALTER TABLE outbox DROP id, ADD id char(6) PRIMARY KEY');
    // More than one fetch, and one row behind them.
    await db.pool.query(
      `INSERT INTO outbox (id, key)
       SELECT 'A' || lpad(n::text, 5, '0'), CASE n WHEN 1201 THEN 'slow' ELSE 'done' END FROM generate_series(1, 1201) n`,
    );
    const options = { ...source, outbox: { ...source.outbox, snapshotOrder: ['id'] } };
    const storage = new Map<string, Offset>();
    const saved = 'snapshot:["A01200"]';
    await interrupted(options, storage, ['done'], (offset) => offset?.watermark === saved);

    const handled: string[] = [];
    await using pipeline = snapshotPipeline({
      source: options,
      offsets: storeOn(storage),
      handle: ({ id }) => handled.push(id),
    });
    await pipeline.start();
    await waitUntil('the last row is handled', () => handled.includes('A01201'));
    expect(handled).toEqual(['A01201']);
  });

  test('rows that a policy hides from the user are an error, and not left out', async () => {
    await using db = await testDatabase();
    const source = await createOutbox(db);
    await insertRows(db.pool, rowsOf('a', 'b'));
    const role = `${db.name}_reader`;
    await db.pool.query(`CREATE ROLE ${role} LOGIN REPLICATION PASSWORD 'reader'`);
    await db.pool.query(`GRANT SELECT ON outbox TO ${role}`);
    await db.pool.query(
      `CREATE PUBLICATION ${source.publication} FOR TABLE outbox WITH (publish = 'insert')`,
    );
    await db.pool.query('ALTER TABLE outbox ENABLE ROW LEVEL SECURITY');
    await db.pool.query(`CREATE POLICY one ON outbox USING (key = 'a')`);
    try {
      const url = new URL(db.url);
      url.username = role;
      url.password = 'reader';
      const handled: string[] = [];
      await using pipeline = snapshotPipeline({
        source: { ...source, url: url.href },
        offsets: memoryOffsets(),
        handle: ({ id }) => handled.push(id),
      });
      await expect(pipeline.start().then(() => pipeline.finished)).rejects.toMatchObject({
        code: 'PG_PRIVILEGE',
      });
      expect(handled).toEqual([]);
    } finally {
      await db.pool.query(`DROP OWNED BY ${role}`);
      await db.pool.query(`DROP ROLE ${role}`);
    }
  });
});
