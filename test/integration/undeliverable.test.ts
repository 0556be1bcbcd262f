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
