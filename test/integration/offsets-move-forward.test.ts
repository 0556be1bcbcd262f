import type { Offset, OffsetStore } from '@strandline/core';
import { startRedis } from '@strandline/servers';
import {
  checkHistory,
  commitLsnOf,
  CommitWitness,
  comparePositions,
  createOutbox,
  insertRows,
  MemoryHistory,
  OutboxWriters,
  PipelineRuns,
  rowsInTurn,
  rowsOf,
  ScriptedHandler,
  testDatabase,
  TestLog,
  testRedis,
  waitUntil,
  type TestDatabase,
} from '@strandline/test-kit';
import { definePipeline, memoryOffsets, postgres, redisOffsets } from 'strandline';
import { describe, expect, test } from 'vitest';

/** Passes everything on, and notes the watermarks whose saving was acknowledged. */
function noting(store: OffsetStore, acknowledged: string[]): OffsetStore {
  return {
    name: store.name,
    load: (pipeline) => store.load(pipeline),
    async claim(pipeline, seed) {
      const offset = await store.claim(pipeline, seed);
      acknowledged.push(offset.watermark);
      return offset;
    },
    async commit(pipeline, offset) {
      const result = await store.commit(pipeline, offset);
      if (result === 'saved' || result === 'restored') acknowledged.push(offset.watermark);
      return result;
    },
    close: () => store.close(),
  };
}

async function confirmedLsn(db: TestDatabase): Promise<bigint> {
  const { rows } = await db.pool.query<{ confirmed: string }>(
    `SELECT (confirmed_flush_lsn - '0/0')::text AS confirmed FROM pg_replication_slots WHERE slot_name = $1`,
    [db.slot()],
  );
  return BigInt(rows[0]?.confirmed ?? 0);
}

const confirmedFrom = `SELECT confirmed_flush_lsn >= '0/0'::pg_lsn + $2::numeric FROM pg_replication_slots
  WHERE slot_name = $1`;

/** Looks again and again, until it is stopped, and keeps what is wrong. */
function watching(look: () => Promise<string | null>): {
  stop(): Promise<{ looks: number; faults: string[] }>;
} {
  const faults: string[] = [];
  let looks = 0;
  let isStopped = false;
  const loop = (async () => {
    while (!isStopped) {
      const fault = await look();
      looks += 1;
      if (fault !== null) faults.push(fault);
    }
  })();
  loop.catch(() => undefined); // told by stop()
  return {
    async stop() {
      isStopped = true;
      await loop;
      return { looks, faults };
    },
  };
}

describe('offsets only move forward, and the log is released only behind them', () => {
  test('under load, while Redis hangs, is killed and comes back', async () => {
    await using redis = await startRedis({ exclusive: true });
    await using keys = await testRedis(redis.url);
    await using db = await testDatabase();
    const source = postgres(await createOutbox(db));
    const witness = await CommitWitness.start(db);
    const history = new MemoryHistory();
    const acknowledged: string[] = [];
    const store = redisOffsets({ url: redis.url, keyPrefix: keys.prefix, commandTimeout: 300 });
    await using pipeline = definePipeline({
      name: 'forward',
      source,
      offsets: noting(store, acknowledged),
      commitInterval: 20,
      log: new TestLog(),
      handle: new ScriptedHandler(history.record, { delay: 10, jitter: true }).handle,
    });
    await pipeline.start();

    // The slot is asked first: both marks only move forward, so a slot that is ahead was ahead then.
    const inMemory = watching(async () => {
      const confirmed = await confirmedLsn(db);
      const saved = acknowledged.at(-1) ?? '';
      return confirmed <= commitLsnOf(saved) ? null : `${String(confirmed)} is confirmed, ${saved} was saved`;
    });
    let isRedisAway = false;
    const whileUp = (fault: string): string | null => (isRedisAway ? null : fault);
    const inRedis = watching(async () => {
      const confirmed = await confirmedLsn(db);
      if (isRedisAway) return null;
      const saved = await keys.client.hget(`${keys.prefix}:{forward}:offset`, 'watermark').catch(() => null);
      if (saved === null) return whileUp('there is no offset in Redis');
      return confirmed <= commitLsnOf(saved) ? null : `${String(confirmed)} is confirmed, Redis has ${saved}`;
    });

    await using writers = new OutboxWriters(db.url);
    const more = (count: number): Promise<void> => history.untilSucceeded(history.succeeded.size + count);
    const away = async (): Promise<void> => {
      await waitUntil('a commit has failed', () => !pipeline.status().offsetsAvailable);
      const saved = acknowledged.at(-1);
      await more(100);
      expect(acknowledged.at(-1)).toBe(saved);
      expect(pipeline.status()).toMatchObject({ state: 'running', savedWatermark: saved });
    };
    const back = (): Promise<boolean> =>
      waitUntil('it is saved again', () => pipeline.status().offsetsAvailable);
    await more(200);
    isRedisAway = true;
    await redis.pause();
    await away();
    await redis.resume();
    await back();
    isRedisAway = false;
    await more(200);
    isRedisAway = true;
    await redis.kill();
    await away();
    await redis.start();
    await back();
    isRedisAway = false;
    await more(200);
    await writers.stop();
    const committed = await witness.events();
    await history.untilSucceeded(committed.length);
    await pipeline.stop();

    for (const { looks, faults } of [await inMemory.stop(), await inRedis.stop()]) {
      expect(faults).toEqual([]);
      expect(looks).toBeGreaterThan(100);
    }
    expect(acknowledged.length).toBeGreaterThan(5);
    expect(acknowledged).toEqual([...acknowledged].sort(comparePositions));
    expect(checkHistory(committed, history.entries)).toEqual({
      missing: [],
      violations: [],
      redelivered: [],
    });
    const last = acknowledged.at(-1) ?? '';
    expect(comparePositions(last, committed.at(-1)?.position ?? '')).toBeGreaterThanOrEqual(0);
    expect(await keys.client.hget(`${keys.prefix}:{forward}:offset`, 'watermark')).toBe(last);
    await db.waitFor('the slot is confirmed', confirmedFrom, [db.slot(), String(commitLsnOf(last))]);
  });

  test('when an event is settled, and not when it is received', async () => {
    await using db = await testDatabase();
    const source = postgres(await createOutbox(db));
    const witness = await CommitWitness.start(db);
    const history = new MemoryHistory();
    const storage = new Map<string, Offset>();
    const handler = new ScriptedHandler(history.record, { hold: ['slow'] });
    await using pipeline = definePipeline({
      name: 'settled',
      source,
      offsets: memoryOffsets({ storage }),
      commitInterval: 10,
      log: new TestLog(),
      handle: handler.handle,
    });
    await pipeline.start();
    await insertRows(db.pool, rowsOf('before'));
    await insertRows(db.pool, rowsOf('before', 'slow', 'after', 'slow'));
    for (let count = 0; count < 20; count += 1) await insertRows(db.pool, rowsInTurn(10, 10));
    await history.untilSucceeded(203);
    await waitUntil('all of it is saved', () => pipeline.status().unsaved === 0);

    const committed = await witness.events();
    const [, before, slow, , , ...rest] = committed.map(({ position }) => position);
    const saved = storage.get('settled');
    expect(saved?.watermark, 'up to the last one that is settled').toBe(before);
    // What is done above it is saved beside it, in as many runs as there are gaps.
    expect(saved?.completed.length).toBe(2);
    expect(await confirmedLsn(db)).toBeLessThanOrEqual(commitLsnOf(slow ?? ''));

    handler.release();
    await history.untilSucceeded(205);
    await waitUntil('all of it is saved', () => {
      const offset = storage.get('settled');
      return offset?.completed.length === 0 && comparePositions(offset.watermark, rest.at(-1) ?? '') >= 0;
    });
    await db.waitFor('the slot is confirmed', confirmedFrom, [
      db.slot(),
      String(commitLsnOf(rest.at(-1) ?? '')),
    ]);
  });

  test('so the log is kept for a slow key, however much the server writes and tells meanwhile', async () => {
    await using db = await testDatabase();
    const source = await createOutbox(db);
    await db.pool.query('CREATE TABLE other (text text)');
    const witness = await CommitWitness.start(db);
    await using runs = await PipelineRuns.prepare({
      name: 'kept',
      // A server that is silent for half a second is asked for a sign of life, which tells how far it has read.
      source: withServerTimeout(source, '1500ms'),
      behaviour: { hold: ['slow'] },
    });
    const { history } = runs;
    const life = await runs.start();
    const [slow = ''] = await insertRows(db.pool, rowsOf('slow'));
    const [slowEvent] = await witness.events();
    await history.until('the slow one runs', () => history.isRunning('slow', 1));

    const other = `INSERT INTO other SELECT repeat(md5(i::text), 100) FROM generate_series(1, 2000) AS i`;
    for (let switches = 0; switches < 3; switches += 1) {
      const ids = await insertRows(db.pool, rowsInTurn(50, 10));
      await db.pool.query(other);
      await db.pool.query('SELECT pg_switch_wal()');
      await history.until('the quick ones are done', () => ids.every((id) => history.succeeded.has(id)));
    }
    await db.pool.query('CHECKPOINT');
    const { rows } = await db.pool.query<{ lsn: string; now: Date }>(
      'SELECT pg_current_wal_lsn()::text AS lsn, clock_timestamp() AS now',
    );
    await db.waitFor(
      'the server has told that it has read all that',
      `SELECT sent_lsn >= $2::pg_lsn AND reply_time > $3::timestamptz + interval '700 ms'
       FROM pg_stat_replication JOIN pg_replication_slots ON active_pid = pid WHERE slot_name = $1`,
      [db.slot(), rows[0]?.lsn, rows[0]?.now],
    );
    await life.untilStatus('all is saved', (status) => status.unsaved === 0);
    expect(await confirmedLsn(db)).toBeLessThanOrEqual(commitLsnOf(slowEvent?.position ?? ''));

    await life.kill();
    await runs.start({ behaviour: {} });
    await history.until('the slow one is done', () => history.succeeded.has(slow));
    expect(checkHistory(await witness.events(), history.entries)).toEqual({
      missing: [],
      violations: [],
      redelivered: [slow],
    });
    const end = await db.pool.query<{ lsn: string }>(`SELECT (pg_current_wal_lsn() - '0/0')::text AS lsn`);
    await db.waitFor('the log is released', confirmedFrom, [db.slot(), end.rows[0]?.lsn]);
  });
});

function withServerTimeout<T extends { readonly url: string }>(source: T, timeout: string): T {
  const url = new URL(source.url);
  url.searchParams.set('options', `-c wal_sender_timeout=${timeout}`);
  return { ...source, url: url.href };
}
