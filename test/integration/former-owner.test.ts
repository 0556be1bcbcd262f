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

test('of two processes that create the publication at once both start', async () => {
  await using db = await testDatabase();
  const source = await createOutbox(db);
  const other = await db.pool.connect();
  await other.query('BEGIN');
  await other.query(
    `CREATE PUBLICATION ${source.publication} FOR TABLE outbox
     WITH (publish = 'insert', publish_via_partition_root = true)`,
  );
  await using pipeline = definePipeline({
    name: 'former-owner',
    source: postgres(source),
    offsets: memoryOffsets(),
    log: new TestLog(),
    handle: () => undefined,
  });
  const started = pipeline.start();
  started.catch(() => undefined);
  await db.waitFor(
    'the other one waits',
    `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
       AND lower(query) LIKE 'create publication%' AND wait_event_type = 'Lock')`,
  );
  await other.query('COMMIT');
  other.release();
  await started;
  expect(pipeline.status().state).toBe('running');
});
