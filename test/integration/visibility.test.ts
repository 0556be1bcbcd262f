import { databaseKinds, TestLog, testOutbox, waitUntil } from '@strandline/test-kit';
import { definePipeline, memoryOffsets } from 'strandline';
import { expect, test } from 'vitest';

test.each(databaseKinds)(
  "%s: with visibility 'committed', a handler that reads its row on another connection always finds it",
  async (kind) => {
    await using outbox = await testOutbox(kind);
    const seen: string[] = [];
    const notFound: string[] = [];
    await using pipeline = definePipeline({
      name: 'visible',
      source: outbox.source(),
      offsets: memoryOffsets(),
      concurrency: 4,
      log: new TestLog(),
      handle: async ({ id }) => {
        if (!(await outbox.has(id))) notFound.push(id);
        seen.push(id);
      },
    });
    await pipeline.start();
    await using writers = outbox.writers({ linger: 0, rows: 1, rollbacks: 0, keys: 500 });
    await waitUntil('many were read back', () => seen.length >= 3_000, { deadlineMs: 30_000 });
    await writers.stop();
    expect(notFound).toEqual([]);
  },
);
