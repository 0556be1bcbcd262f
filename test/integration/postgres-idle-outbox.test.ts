import { startPostgres } from '@strandline/servers';
import {
  createOutbox,
  insertRows,
  MemoryHistory,
  rowsOf,
  ScriptedHandler,
  testDatabase,
  TestLog,
  type TestDatabase,
} from '@strandline/test-kit';
import { definePipeline, memoryOffsets, postgres } from 'strandline';
import { describe, expect, test } from 'vitest';

const MiB = 1024 * 1024;

describe('an idle outbox does not hold the log', () => {
  test('while another table writes 500 MB, the slot follows and the server keeps little', async () => {
    const megabytes = 500;
    await using server = await startPostgres({
      exclusive: true,
      // No checkpoint of its own comes in between; that it can throw the log away is asked for below.
      settings: { max_wal_size: '4GB', wal_compression: 'off', full_page_writes: 'off' },
    });
    await using db = await testDatabase(server.url);
    const source = postgres(await createOutbox(db));
    await db.pool.query('CREATE TABLE other (text text STORAGE EXTERNAL)');
    const history = new MemoryHistory();
    await using pipeline = definePipeline({
      name: 'idle',
      source,
      offsets: memoryOffsets(),
      log: new TestLog(),
      handle: new ScriptedHandler(history.record).handle,
    });
    await pipeline.start();
    const [id = ''] = await insertRows(db.pool, rowsOf('k'));
    await history.until('the outbox was used once', () => history.succeeded.has(id));

    const confirmed = `SELECT confirmed_flush_lsn >= '0/0'::pg_lsn + $2::numeric FROM pg_replication_slots
      WHERE slot_name = $1`;
    const start = await walEnd(db);
    for (let written = 0; written < megabytes; written += 10) {
      await db.pool.query(`INSERT INTO other SELECT repeat('x', $1) FROM generate_series(1, 10)`, [MiB]);
      if (written !== megabytes / 2) continue;
      await db.waitFor('it follows on the way', confirmed, [db.slot(), String(start + 50 * MiB)]);
    }
    const end = await walEnd(db);
    expect(end - start).toBeGreaterThan(megabytes * MiB);
    await db.waitFor('the slot is confirmed up to there', confirmed, [db.slot(), String(end)]);

    // Where decoding would start again moves with what is confirmed, at the next record of running transactions.
    await db.pool.query('CHECKPOINT');
    await db.waitFor(
      'the server keeps little log for the slot',
      `SELECT pg_current_wal_lsn() - restart_lsn < $2 FROM pg_replication_slots WHERE slot_name = $1`,
      [db.slot(), MiB],
    );

    // Nothing was handed over in all that time, and what comes now is.
    expect(history.entries.length).toBe(2);
    const [next = ''] = await insertRows(db.pool, rowsOf('k'));
    await history.until('the outbox works', () => history.succeeded.has(next));
  });
});

async function walEnd({ pool }: TestDatabase): Promise<number> {
  const { rows } = await pool.query<{ lsn: string }>(`SELECT (pg_current_wal_lsn() - '0/0')::text AS lsn`);
  return Number(rows[0]?.lsn);
}
