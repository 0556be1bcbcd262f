import {
  createOutbox,
  PipelineRuns,
  testDatabase,
  waitUntil,
  watchFor,
  type PipelineProcess,
  type ProcessReport,
} from '@strandline/test-kit';
import { describe, expect, test } from 'vitest';

const MiB = 1024 * 1024;

/** The report of a process once its window is full and the log is not read any more. */
function untilFull(life: PipelineProcess): Promise<ProcessReport> {
  return waitUntil(
    'the window is full and the log paused',
    async () => {
      const report = await life.report();
      return report.status.paused === 'window' && report.status.source?.state === 'paused' ? report : null;
    },
    { deadlineMs: 30_000 },
  );
}

describe('what is read and not settled has a limit', () => {
  test('of events: a transaction of 200,000 rows with blocked handlers', async () => {
    const rows = 200_000;
    const window = { events: 2_000, bytes: 64 * MiB };
    await using db = await testDatabase();
    const source = await createOutbox(db);
    await using runs = await PipelineRuns.prepare({
      name: 'bounded',
      source,
      tuning: { window },
      behaviour: { hold: ['*'] },
    });
    const life = await runs.start();
    const before = await life.report();
    await db.pool.query(
      `INSERT INTO outbox (key, payload) SELECT 'k' || i % 1000, repeat('x', 200) FROM generate_series(1, $1::int) i`,
      [rows],
    );

    const full = await untilFull(life);
    expect(full.status.unsettled).toBe(window.events);
    // It stays so, and says so, for as long as nothing moves.
    await watchFor(1_000, 'paused', async () => {
      const { status, rss } = await life.report();
      const isSmall = rss < before.rss + 48 * MiB;
      return isSmall && status.paused === 'window' && status.unsettled === window.events;
    });

    life.release();
    await runs.history.untilSucceeded(rows, 60_000);
    const after = await life.report();
    expect(after.mostUnsettled).toBeLessThanOrEqual(window.events);
    expect(after.status).toMatchObject({ paused: null, unsettled: 0, source: { state: 'streaming' } });
    // Without limits the rows alone take 200 MiB.
    expect((after.mostRss - before.rss) / MiB).toBeLessThan(128);
    expect(runs.history.ids('started').length).toBe(rows);
  });

  test('of bytes: a transaction of wide rows', async () => {
    const rows = 400;
    const window = { events: 10_000, bytes: 8 * MiB };
    await using db = await testDatabase();
    const source = await createOutbox(db);
    await db.pool.query('ALTER TABLE outbox ALTER payload SET STORAGE EXTERNAL');
    await using runs = await PipelineRuns.prepare({
      name: 'wide',
      source,
      tuning: { window },
      behaviour: { hold: ['*'] },
    });
    const life = await runs.start();
    const before = await life.report();
    await db.pool.query(
      `INSERT INTO outbox (key, payload) SELECT 'k' || i, repeat('x', $2) FROM generate_series(1, $1::int) i`,
      [rows, MiB / 2],
    );

    const full = await untilFull(life);
    expect(full.status.bytes).toBeGreaterThanOrEqual(window.bytes);
    life.release();
    await runs.history.untilSucceeded(rows, 60_000);
    const after = await life.report();
    // The last one that was let in may have crossed the line.
    expect(after.mostBytes).toBeLessThan(window.bytes + MiB);
    expect(after.status).toMatchObject({ paused: null, bytes: 0 });
    // Without limits the rows alone take 200 MiB.
    expect((after.mostRss - before.rss) / MiB).toBeLessThan(128);
  });

  test('and a row that is larger than the whole window still passes', async () => {
    await using db = await testDatabase();
    const source = await createOutbox(db);
    await using runs = await PipelineRuns.prepare({
      name: 'wide',
      source,
      tuning: { window: { events: 10, bytes: 1_000 } },
    });
    const life = await runs.start();
    await db.pool.query(
      `INSERT INTO outbox (key, payload) SELECT 'k' || i, repeat('x', 3000) FROM generate_series(1, 20) i`,
    );
    await runs.history.untilSucceeded(20);
    expect((await life.report()).mostUnsettled).toBe(1);
  });
});
