import { faultless, idsOf, PipelineRuns, PostgresTestOutbox, rowsInTurn, rowsOf } from '@strandline/test-kit';
import { expect, test } from 'vitest';

test('the log is kept for a slow key, however much the server writes and tells meanwhile', async () => {
  await using outbox = await PostgresTestOutbox.create();
  const { db, release } = outbox;
  await db.pool.query('CREATE TABLE other (text text)');
  const witness = await outbox.witness();
  await using runs = await PipelineRuns.prepare(outbox, {
    name: 'kept',
    // A server that is silent for half a second is asked for a sign of life, which tells how far it has read.
    source: { url: withServerTimeout(outbox.url, '1500ms') },
    behaviour: { hold: ['slow'] },
  });
  const { history } = runs;
  const life = await runs.start();
  const [slow = ''] = await outbox.insert(rowsOf('slow'));
  const [slowEvent] = await witness.events();
  await history.until('the slow one runs', () => history.isRunning('slow', 1));

  const other = `INSERT INTO other SELECT repeat(md5(i::text), 100) FROM generate_series(1, 2000) AS i`;
  for (let switches = 0; switches < 3; switches += 1) {
    const ids = await outbox.insert(rowsInTurn(50, 10));
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
  expect(outbox.comparePlaces(await release.upTo(), slowEvent?.position ?? '')).toBeLessThanOrEqual(0);

  await life.kill();
  await runs.start({ behaviour: {} });
  await history.until('the slow one is done', () => history.succeeded.has(slow));
  const judgement = outbox.check(await witness.events(), history);
  expect(judgement).toMatchObject(faultless);
  expect(idsOf(judgement.duplicates)).toEqual([slow]);
  const end = await db.pool.query<{ lsn: string }>('SELECT pg_current_wal_lsn()::text AS lsn');
  await release.until(`${String(end.rows[0]?.lsn)}:0`);
});

function withServerTimeout(url: string, timeout: string): string {
  const changed = new URL(url);
  changed.searchParams.set('options', `-c wal_sender_timeout=${timeout}`);
  return changed.href;
}
