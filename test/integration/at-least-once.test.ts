import { definePipeline, memoryOffsets, postgres, type OutboxEvent } from 'strandline';
import { testDatabase, TestLog, waitUntil } from '@strandline/test-kit';
import { expect, test } from 'vitest';

test('an event that is delivered again after a crash has the id, key, payload and position that it had before', async () => {
  await using db = await testDatabase();
  await db.pool.query('create table outbox (id bigint primary key, key text, payload jsonb)');
  const storage: NonNullable<NonNullable<Parameters<typeof memoryOffsets>[0]>['storage']> = new Map();
  const seen: Pick<OutboxEvent, 'id' | 'key' | 'payloadText' | 'position'>[][] = [];

  const run = (handle: () => Promise<void> | undefined): ReturnType<typeof definePipeline> => {
    const mine: (typeof seen)[number] = [];
    seen.push(mine);
    return definePipeline({
      name: 'again',
      source: postgres({
        url: db.url,
        slot: db.slot(),
        publication: db.publication(),
        outbox: { table: 'outbox', id: 'id', key: 'key', payload: 'payload' },
      }),
      offsets: memoryOffsets({ storage }),
      drainTimeout: 0,
      log: new TestLog(),
      handle({ id, key, payloadText, position }) {
        mine.push({ id, key, payloadText, position });
        return handle();
      },
    });
  };

  let release: () => void = () => undefined;
  const never = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = run(() => never);
  await first.start();
  await db.pool.query(`insert into outbox values (9007199254740993, 'a', '{"n": 1}'), (2, 'b', null)`);
  await waitUntil('both are in flight', () => (seen[0]?.length === 2 ? true : undefined));
  // Nothing has settled: for the next run this is a crash in the middle of both handlers.
  const stopped = first.stop();
  await db.waitForSlot(db.slot(), 'inactive');
  await stopped;

  const second = run(() => undefined);
  await second.start();
  await waitUntil('both came again', () => (seen[1]?.length === 2 ? true : undefined));
  await second.stop();
  release();
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[0]?.[0]).toMatchObject({ id: '9007199254740993', key: 'a', payloadText: '{"n": 1}' });
});
