import type { Offset } from '@strandline/core';
import { createOutbox, insertRows, testDatabase, TestLog, waitUntil } from '@strandline/test-kit';
import { definePipeline, memoryOffsets, postgres, type Pipeline } from 'strandline';
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

test.each([
  ['while it runs', false],
  ['while it is down', true],
])(
  'completeness: of a table that was taken out of the publication and put back %s, the rows in between are missed',
  async (_, down) => {
    await using db = await testDatabase();
    const source = await createOutbox(db);
    const storage = new Map<string, Offset>();
    const handled: string[] = [];
    const pipelineOfOne = (): Pipeline =>
      definePipeline({
        name: 'undeliverable',
        source: postgres(source),
        offsets: memoryOffsets({ storage }),
        log: new TestLog(),
        handle: ({ id }) => handled.push(id),
      });
    await using first = pipelineOfOne();
    await first.start();
    const outcome = (pipeline: Pipeline): Promise<unknown> =>
      pipeline.finished.then(
        () => null,
        (error: unknown) => error,
      );
    let ended = outcome(first);
    await insertRows(db.pool, [{ key: 'a' }]);
    await waitUntil('the row is handled', () => handled.length === 1);
    if (down) await first.stop();
    await db.pool.query(`ALTER PUBLICATION ${source.publication} DROP TABLE outbox`);
    await insertRows(db.pool, [{ key: 'unpublished' }]);
    await db.pool.query(`ALTER PUBLICATION ${source.publication} ADD TABLE outbox`);
    await using second = pipelineOfOne();
    if (down) {
      ended = second.start().then(
        () => null,
        (error: unknown) => error,
      );
    }
    expect(await ended).toMatchObject({ code: 'PG_PUBLICATION_CHANGED' });
  },
);
