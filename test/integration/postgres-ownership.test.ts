import type { Offset } from '@strandline/core';
import {
  createOutbox,
  insertRows,
  outboxSource,
  rowsInTurn,
  rowsOf,
  TcpProxy,
  testDatabase,
  TestLog,
  waitUntil,
} from '@strandline/test-kit';
import { definePipeline, memoryOffsets, postgres, type Pipeline } from 'strandline';
import { describe, expect, test } from 'vitest';
import { App } from './source-app.js';

describe('without a standby', () => {
  test('a second process is refused, by the name of the first; when that has stopped it starts', async () => {
    await using app = await App.create();
    const first = await app.start();
    const refused = await app.refusal(app.pipeline({ standby: 'fail' }));
    expect(refused).toMatchObject({ code: 'PG_SLOT_IN_USE' });
    expect(refused.message).toMatch(/is being read by strandline\/app\/[0-9a-f]{8} \(pid \d+\)/);
    const ids = await insertRows(app.db.pool, rowsOf('a'));
    await app.untilHandled(1);
    expect(first.status().state).toBe('running');
    await app.stop(first);
    const second = await app.start({ standby: 'fail' });
    ids.push(...(await insertRows(app.db.pool, rowsOf('b'))));
    await app.untilHandled(2);
    expect(app.ids).toEqual(ids);
    await app.stop(second);
  });
});

describe('a session of one’s own that the server still believes in', () => {
  test('is ended and replaced by its own process; nothing comes twice', async () => {
    await using app = await App.create();
    await using proxy = await TcpProxy.start(app.db.url);
    const { url } = outboxSource(app.db, proxy.url);
    const owner = await app.start({ url, silenceTimeout: 1_000, reconnect: { initialDelay: 10 } });
    const ids = await insertRows(app.db.pool, rowsInTurn(20, 4));
    await app.untilHandled(20);
    const { pid: stale } = await walsender(app);
    proxy.freeze();
    ids.push(...(await insertRows(app.db.pool, rowsInTurn(20, 4))));
    await app.untilHandled(40);
    const { pid, name } = await walsender(app);
    expect(pid).not.toBe(stale);
    expect(name).toMatch(/^strandline\/app\//);
    expect(owner.status()).toMatchObject({ state: 'running', epoch: 1, source: { reconnects: 1 } });
    await app.db.waitFor(
      'the stale session is gone',
      'SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)',
      [stale],
    );
    await app.stop(owner);
    expect(app.ids.toSorted((a, b) => Number(a) - Number(b))).toEqual(ids);
  });

  async function walsender(app: App): Promise<{ pid: number; name: string }> {
    const { rows } = await app.db.pool.query<{ pid: number; name: string }>(
      `SELECT pid, application_name AS name FROM pg_stat_activity
       WHERE pid = (SELECT active_pid FROM pg_replication_slots WHERE slot_name = $1)`,
      [app.source.slot],
    );
    return rows[0] ?? expect.fail('nobody reads the slot');
  }
});

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

test('a process that comes back when another one has taken over, and stopped, does nothing again, wherever the slot stands', async () => {
  await using db = await testDatabase();
  const source = await createOutbox(db);
  const storage = new Map<string, Offset>();
  const handled: string[] = [];
  const pipelineOfOne = (initialDelay: number): Pipeline =>
    definePipeline({
      name: 'former-owner',
      // The slot stays where it is, so that it does not tell.
      source: postgres({ ...source, retention: { age: 3_600_000 }, reconnect: { initialDelay } }),
      offsets: memoryOffsets({ storage }),
      log: new TestLog(),
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
  await waitUntil('it has handled the second row', () => handled.length === 2);
  await newer.stop();
  expect(former.status().source?.state).toBe('reconnecting');
  await insertRows(db.pool, rowsOf('c'));
  await waitUntil('the former owner goes on', () => handled.length >= 3);
  expect(handled).toEqual(['1', '2', '3']);
  expect(former.status().epoch).toBe(3);
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
