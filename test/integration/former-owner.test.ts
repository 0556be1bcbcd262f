import type { Offset } from '@strandline/core';
import { createOutbox, insertRows, rowsOf, testDatabase, TestLog, waitUntil } from '@strandline/test-kit';
import { definePipeline, memoryOffsets, postgres, type Pipeline } from 'strandline';
import { expect, test } from 'vitest';

test('a process that comes back when another one has taken over, and read on, stands by', async () => {
  await using db = await testDatabase();
  const source = await createOutbox(db);
  const storage = new Map<string, Offset>();
  const handled: string[] = [];
  const log = new TestLog();
  const pipelineOfOne = (initialDelay: number): Pipeline =>
    definePipeline({
      name: 'former-owner',
      source: postgres({ ...source, reconnect: { initialDelay } }),
      offsets: memoryOffsets({ storage }),
      log,
      handle: ({ id }) => handled.push(id),
    });
  await using former = pipelineOfOne(4_000);
  await using newer = pipelineOfOne(100);
  await former.start();
  await newer.start();
  await insertRows(db.pool, rowsOf('a'));
  await waitUntil('the first row is handled', () => handled.length === 1);

  await db.pool.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_replication
     WHERE application_name LIKE 'strandline/former-owner/%'`,
  );
  await waitUntil('the other one has taken over', () => newer.status().state === 'running');
  await insertRows(db.pool, rowsOf('b'));
  const { rows } = await db.pool.query<{ lsn: string }>('SELECT pg_current_wal_lsn()::text AS lsn');
  await db.waitFor(
    'the slot is released further than the former owner has read',
    'SELECT confirmed_flush_lsn >= $2::pg_lsn FROM pg_replication_slots WHERE slot_name = $1',
    [db.slot(), rows[0]?.lsn],
  );
  expect(former.status()).toMatchObject({ state: 'running', source: { state: 'reconnecting' } });
  await waitUntil('the former owner stands by', () => former.status().state === 'standby');
  expect(log.has('stopped by an error')).toBe(false);
  expect(handled).toEqual(['1', '2']);
});
