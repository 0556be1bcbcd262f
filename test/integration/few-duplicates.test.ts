import type { Offset } from '@strandline/core';
import {
  databaseKinds,
  faultless,
  idsOf,
  PipelineRuns,
  rowsInTurn,
  testOutbox,
  type CommittedEvent,
  type OutboxRow,
  type TestOutbox,
} from '@strandline/test-kit';
import { fileOffsets } from 'strandline';
import { describe, expect, test } from 'vitest';

const rows = 5_000;

/** One row of the slow key, then many of others. */
function slowOneFirst(): OutboxRow[] {
  return [{ key: 'slow' }, ...rowsInTurn(rows - 1, 100)];
}

/** A row of the slow key before each of the others: every second one can't be settled. */
function alternating(): OutboxRow[] {
  return rowsInTurn(rows / 2, 100).flatMap((row) => [{ key: 'slow' }, row]);
}

async function savedOffset(runs: PipelineRuns, pipeline: string): Promise<Offset> {
  if (runs.offsets.kind !== 'file') throw new Error('The offsets of this test lie in files.');
  await using store = fileOffsets({ directory: runs.offsets.directory });
  const offset = await store.load(pipeline);
  if (offset === null) throw new Error('Nothing was saved.');
  return offset;
}

function isSettledIn(
  outbox: TestOutbox,
  { watermark, completed }: Offset,
  { position }: CommittedEvent,
): boolean {
  const isUpTo = (a: string, b: string): boolean => outbox.comparePlaces(a, b) <= 0;
  return (
    isUpTo(position, outbox.placeOf(watermark)) ||
    completed.some(
      ({ first, last }) => isUpTo(outbox.placeOf(first), position) && isUpTo(position, outbox.placeOf(last)),
    )
  );
}

describe.each(databaseKinds)(
  '%s: after a crash only what was in flight, or settled since the last commit, is delivered again',
  { timeout: 120_000 },
  (kind) => {
    test(`in the middle of a transaction of ${String(rows)} rows`, async () => {
      /** A commit every 100 ms, the time that it takes, and two busy cores. */
      const savedWithinMs = 1_000;
      await using outbox = await testOutbox(kind);
      const witness = await outbox.witness();
      await using runs = await PipelineRuns.prepare(outbox, {
        name: 'few',
        behaviour: { delay: 60, jitter: true, hold: ['slow'] },
      });
      const { history } = runs;
      let life = await runs.start();
      await outbox.insertInOneTransaction(slowOneFirst());
      const committed = await witness.events();
      expect(committed.length).toBe(rows);

      const crashes: { next: number; started: Set<string>; unsaved: Set<string> }[] = [];
      for (let crash = 0; crash < 2; crash += 1) {
        const { run } = life;
        const settledBefore = (time: number): string[] =>
          history.entries
            .filter((entry) => entry.what === 'succeeded' && entry.run === run && entry.at < time)
            .flatMap(({ ids }) => ids);
        await history.until(
          'much was settled long ago',
          () => settledBefore(Date.now() - savedWithinMs).length > 500,
        );
        await life.kill();
        const killedAt = Date.now();
        const started = new Set(history.refresh().ids('started'));
        const offset = await savedOffset(runs, 'few');
        const unsaved = new Set(
          committed.filter((event) => !isSettledIn(outbox, offset, event)).map(({ id }) => id),
        );
        // The offset knows all but the last moments.
        const long = settledBefore(killedAt - savedWithinMs);
        expect(history.succeeded.size, 'it is in the middle').toBeLessThan(rows - 1_000);
        expect(long.filter((id) => unsaved.has(id))).toEqual([]);

        life = await runs.start();
        crashes.push({ next: life.run, started, unsaved });
      }
      life.release();
      await history.untilSucceeded(rows);
      await life.stop();
      expect(outbox.check(committed, history)).toMatchObject(faultless);
      // And what it knew did not come again.
      for (const { next, started, unsaved } of crashes) {
        const again = history.ids('started', next).filter((id) => started.has(id));
        expect(again.length, 'the slow one at least').toBeGreaterThan(0);
        expect(again.filter((id) => !unsaved.has(id))).toEqual([]);
      }
    });

    test.each([
      [
        'however long one slow event has held the watermark, and thousands were settled above it',
        slowOneFirst,
        1,
      ],
      ['however many gaps there are in what was settled', alternating, rows / 2],
    ])(
      '%s; and no more after a second crash and a third right after the restart',
      async (_, insert, slow) => {
        await using outbox = await testOutbox(kind);
        const witness = await outbox.witness();
        await using runs = await PipelineRuns.prepare(outbox, { name: 'few', behaviour: { hold: ['slow'] } });
        const { history } = runs;
        const first = await runs.start();
        await outbox.insertInOneTransaction(insert());
        await history.untilSucceeded(rows - slow);
        await first.untilStatus('all of it is saved', (status) => status.unsaved === 0);
        await first.kill();
        expect((await savedOffset(runs, 'few')).completed.length).toBe(slow);

        const second = await runs.start();
        await history.until('the slow one runs again', () => history.isRunning('slow', 2));
        await second.kill();
        const third = await runs.start();
        await third.kill();

        const fourth = await runs.start({ behaviour: {} });
        await history.untilSucceeded(rows);
        await fourth.stop();
        const committed = await witness.events();
        const judgement = outbox.check(committed, history);
        expect(judgement).toMatchObject(faultless);
        expect(idsOf(judgement.duplicates), 'the one that was in flight').toEqual([committed[0]?.id]);
        const timesInFlight = new Set(history.ofKey('slow').map(({ run }) => run)).size;
        expect(history.ids('started').length).toBe(rows + timesInFlight - 1);
      },
    );

    test('and none of what an earlier owner had settled further on than the next one had read when it died too', async () => {
      await using outbox = await testOutbox(kind);
      const witness = await outbox.witness();
      await using runs = await PipelineRuns.prepare(outbox, { name: 'few', behaviour: { hold: ['slow'] } });
      const { history } = runs;
      const first = await runs.start();
      await outbox.insertInOneTransaction(alternating());
      await history.untilSucceeded(rows / 2);
      await first.untilStatus('all of it is saved', (status) => status.unsaved === 0);
      await first.kill();

      // It reads no further than its window, settles something, saves and dies.
      const second = await runs.start({ tuning: { window: { events: 50 } } });
      await second.untilStatus('it reads no further', (status) => status.paused === 'window');
      await history.until('the slow one runs again', () => history.isRunning('slow', 2));
      second.step('slow');
      await second.untilStatus(
        'one is settled and saved',
        ({ settled, unsaved }) => settled === 1 && unsaved === 0,
      );
      await second.kill();
      expect((await savedOffset(runs, 'few')).completed.length).toBe(rows / 2 - 1);

      const third = await runs.start({ behaviour: {} });
      await history.untilSucceeded(rows);
      await third.stop();
      const committed = await witness.events();
      const inFlight = [committed[0]?.id, committed[2]?.id];
      const judgement = outbox.check(committed, history);
      expect(judgement).toMatchObject(faultless);
      expect(idsOf(judgement.duplicates)).toEqual(inFlight);
      expect(history.ids('started').length).toBe(rows + inFlight.length);
    });
  },
);
