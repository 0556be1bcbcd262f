import { randomBytes } from 'node:crypto';
import {
  databaseKinds,
  PipelineRuns,
  rowsInTurn,
  testOutbox,
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

describe.each(databaseKinds)('%s: what is read and not settled has a limit', (kind) => {
  test('of events: a transaction of 200,000 rows with blocked handlers', async () => {
    const rows = 200_000;
    const window = { events: 2_000, bytes: 64 * MiB };
    await using outbox = await testOutbox(kind);
    await using runs = await PipelineRuns.prepare(outbox, {
      name: 'bounded',
      tuning: { window },
      behaviour: { hold: ['*'] },
    });
    const life = await runs.start();
    const before = await life.report();
    const payload = 'x'.repeat(200);
    await outbox.insertInOneTransaction(rowsInTurn(rows, 1_000).map(({ key }) => ({ key, payload })));

    const full = await untilFull(life);
    expect(full.status.unsettled).toBe(window.events);
    // It stays so, and says so, for as long as nothing moves.
    await watchFor(1_000, 'paused', async () => {
      const { status } = await life.report();
      return status.paused === 'window' && status.unsettled === window.events;
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
    await using outbox = await testOutbox(kind);
    await using runs = await PipelineRuns.prepare(outbox, {
      name: 'wide',
      tuning: { window },
      behaviour: { hold: ['*'] },
    });
    const life = await runs.start();
    const before = await life.report();
    // Random, so that nobody can make it shorter.
    const payload = randomBytes(MiB / 4).toString('hex');
    await outbox.insertInOneTransaction(rowsInTurn(rows, rows).map(({ key }) => ({ key, payload })));

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
    await using outbox = await testOutbox(kind);
    await using runs = await PipelineRuns.prepare(outbox, {
      name: 'wide',
      tuning: { window: { events: 10, bytes: 1_000 } },
    });
    const life = await runs.start();
    const payload = 'x'.repeat(3_000);
    await outbox.insert(rowsInTurn(20, 20).map(({ key }) => ({ key, payload })));
    await runs.history.untilSucceeded(20);
    expect((await life.report()).mostUnsettled).toBe(1);
  });
});
