import { createOutbox, insertRows, testDatabase, TestLog, waitUntil } from '@strandline/test-kit';
import { definePipeline, memoryOffsets, postgres } from 'strandline';
import { expect, test } from 'vitest';

test('completeness: behind what came before it, a row that can not be an event stops the pipeline', async () => {
  await using db = await testDatabase();
  const source = await createOutbox(db);
  await db.pool.query('ALTER TABLE outbox ALTER key DROP NOT NULL');
  const handled: string[] = [];
  const log = new TestLog();
  await using pipeline = definePipeline({
    name: 'undeliverable',
    source: postgres(source),
    offsets: memoryOffsets(),
    log,
    handle: ({ id }) => handled.push(id),
  });
  await pipeline.start();
  let failure: unknown;
  pipeline.finished.catch((error: unknown) => {
    failure = error;
  });
  // The second row is refused before it is known whether others can see the first one.
  await insertRows(db.pool, [{ key: 'a' }, { key: null as unknown as string }, { key: 'b' }]);
  await waitUntil('the pipeline has stopped', () => failure !== undefined);
  expect(failure).toMatchObject({ code: 'PG_NULL_KEY' });
  expect(handled).toEqual(['1']);
  expect(log.has('lost the connection')).toBe(false);
});

test('completeness: a table whose children would keep their rows from the stream is refused', async () => {
  await using db = await testDatabase();
  const source = await createOutbox(db);
  await db.pool.query('CREATE TABLE outbox_2026 () INHERITS (outbox)');
  await using pipeline = definePipeline({
    name: 'undeliverable',
    source: postgres(source),
    offsets: memoryOffsets(),
    log: new TestLog(),
    handle: () => undefined,
  });
  await expect(pipeline.start()).rejects.toMatchObject({ code: 'PG_TABLE_INHERITED' });
});

test('completeness: a table with a partition whose rows never reach the log is refused', async () => {
  await using db = await testDatabase();
  const source = await createOutbox(db);
  await db.pool.query(
    `DROP TABLE outbox;
     CREATE TABLE outbox (id bigint, key text, payload text) PARTITION BY LIST (key);
     CREATE TABLE logged PARTITION OF outbox FOR VALUES IN ('a');
     CREATE UNLOGGED TABLE unlogged PARTITION OF outbox FOR VALUES IN ('b');`,
  );
  await using pipeline = definePipeline({
    name: 'undeliverable',
    source: postgres(source),
    offsets: memoryOffsets(),
    log: new TestLog(),
    handle: () => undefined,
  });
  const refusal: unknown = expect.objectContaining({
    code: 'PG_TABLE_UNLOGGED',
    message: expect.stringContaining('public.unlogged') as unknown,
  });
  await expect(pipeline.start()).rejects.toEqual(refusal);
});
