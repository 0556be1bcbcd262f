import { killInstants, type KillPoint } from '@strandline/test-kit';
import { describe, expect, test } from 'vitest';
import { ParkingStage } from './parking-stage.js';

const kinds = ['postgres', 'mysql'] as const;

/** Kill points of the first test, and the measure of the others. There are hundreds; each run draws some of them. */
const KILLS = Number(process.env['PARKING_KILLS'] ?? 4);
/** Processes are started again up to four times for each, on a machine that is busy with others. */
const PATIENCE = { timeout: 120_000 + KILLS * 10_000 };
/** Statements that a new life sends before it is as far as the one before. */
const COMING_BACK = 24;

/** Evenly over all of them, each drawn from its share: `count` of the instants of `statements` statements. */
function drawPoints(count: number, statements: number): KillPoint[] {
  const all = statements * killInstants.length;
  return Array.from({ length: Math.min(count, all) }, (_, index) => {
    const at = Math.floor(((index + Math.random()) * all) / Math.min(count, all));
    return {
      statement: 1 + Math.floor(at / killInstants.length),
      instant: killInstants[at % killInstants.length] ?? 'before',
    };
  });
}

/** Plays a scene once in peace, and then with a kill at each of the points. */
async function playWithKills(
  stage: ParkingStage,
  count: number,
  scene: (round: string) => Promise<void>,
): Promise<void> {
  const { pipeline } = stage;
  await pipeline.plant(null);
  await scene('0');
  const points = drawPoints(count, await pipeline.statements());
  const again = drawPoints(points.length, COMING_BACK);
  for (const [index, point] of points.entries()) {
    // Every other time the one that comes back is killed as well.
    const next = index % 2 === 0 ? null : (again[(index * 7) % again.length] ?? null);
    await pipeline.plant(point, next);
    await scene(String(index + 1));
  }
  await stage.check();
  // Not each life sends as many statements as the first one did.
  expect(pipeline.kills, 'kills').toBeGreaterThanOrEqual(Math.max(1, Math.floor(points.length * 0.7)));
}

describe.each(kinds)('%s: SIGKILL at each step leaves no hole and no swap', (kind) => {
  test('when a key is parked, fails once more, and is released', PATIENCE, async () => {
    await using stage = await ParkingStage.open(kind);
    await playWithKills(stage, KILLS, async (round) => {
      const [a, b, c] = [`a${round}`, `b${round}`, `c${round}`];
      await stage.break(`${a}/2`);
      await stage.insert(a, b, a, a, c, a, b);
      await stage.untilWaiting(a, 3);
      const parked = stage.moment;
      await stage.insert(a, b, c);
      await stage.untilWaiting(a, 4);
      await stage.untilHandled(b, c);
      stage.hasRested(a, parked, 1);

      // Too early: it is parked again, at the same place.
      await stage.retry(a);
      await stage.untilWaiting(a, 4, 2);

      await stage.break();
      await stage.retry(a);
      await stage.untilSucceeded(`${a}/2`);
      // These come while the letters are worked off, and queue up behind them.
      await stage.insert(a, b, a);
      await stage.untilHandled(a, b);
      await stage.untilAllLive();
      await stage.insert(a, c);
      await stage.untilHandled(a, c);
    });
  });

  test(
    'when what was handled before the letters is handled again, and goes in front of them',
    PATIENCE,
    async () => {
      await using stage = await ParkingStage.open(kind);
      const { pipeline } = stage;
      const points = drawPoints(KILLS / 3, COMING_BACK);
      for (const [round, killAt] of points.entries()) {
        const [a, b] = [`a${String(round)}`, `b${String(round)}`];
        // It saves nothing: what it handles is handled again by the next one.
        await pipeline.restart({ tuning: { commitInterval: 60_000 } });
        await stage.break(`${a}/3`);
        await stage.insert(a, b, a, a, a);
        await stage.untilWaiting(a, 2);
        await stage.untilHandled(b);

        await stage.kill([`${a}/2`, `${a}/3`], { killAt });
        await stage.untilWaiting(a, 3);
        await stage.insert(a, b);
        await stage.untilWaiting(a, 4);
        await stage.break();
        await stage.retry(a);
        await stage.untilHandled(a, b);
        await stage.untilAllLive();
      }
      await stage.check();
      expect(pipeline.kills, 'kills').toBeGreaterThan(points.length * 1.7);
    },
  );

  test('when released letters are handled sooner than the log brings them again', PATIENCE, async () => {
    await using stage = await ParkingStage.open(kind);
    const { pipeline } = stage;
    const points = drawPoints(KILLS / 3, COMING_BACK * 2);
    for (const [round, killAt] of points.entries()) {
      const a = `a${String(round)}`;
      await pipeline.restart({ tuning: { commitInterval: 60_000 } });
      await stage.break(`${a}/2`);
      await stage.insert(a, a, a, 'slow', 'slow', 'slow', 'slow', a);
      await stage.untilWaiting(a, 3);
      await stage.retry(a);

      // With a window as narrow as that it reads on when a slow handler has ended, and not before.
      const tuning = { commitInterval: 20, parking: { poll: 10 }, window: { events: 3 } };
      await stage.kill([], { killAt, tuning });
      await stage.insert(a);
      await stage.untilHandled(a, 'slow');
      await stage.untilAllLive();
      await stage.insert(a);
      await stage.untilHandled(a);
    }
    await stage.check();
    expect(pipeline.kills, 'kills').toBeGreaterThanOrEqual(points.length);
  });

  test('when letters that were handled are brought again, and fail then', PATIENCE, async () => {
    await using stage = await ParkingStage.open(kind);
    const { pipeline } = stage;
    const points = drawPoints(KILLS / 3, COMING_BACK);
    for (const [round, killAt] of points.entries()) {
      const [a, b] = [`a${String(round)}`, `b${String(round)}`];
      await pipeline.restart({ tuning: { commitInterval: 60_000 } });
      await stage.break(`${a}/2`);
      await stage.insert(a, a, a, b, b, b, b, a, a);
      await stage.untilWaiting(a, 4);
      await stage.retry(a);

      // It handles all letters, and has not read so far: its window is full of what it does not end.
      await stage.kill([], {
        tuning: { commitInterval: 20, parking: { poll: 10 }, window: { events: 3 } },
        behaviour: { hold: [b] },
      });
      await stage.untilHandled(a);
      await stage.kill([`${a}/4`], { killAt });
      await stage.untilWaiting(a, 2);
      await stage.break();
      await stage.retry(a);
      await stage.insert(a);
      await stage.untilHandled(a, b);
      await stage.untilAllLive();
    }
    await stage.check();
    expect(pipeline.kills, 'kills').toBeGreaterThan(points.length * 2.7);
  });

  test('when a key is too hot, and goes through the table', PATIENCE, async () => {
    await using stage = await ParkingStage.open(kind, { maxPerKey: 3, overflow: 'park' });
    await playWithKills(stage, KILLS / 2, async (round) => {
      const [hot, b] = [`hot${round}`, `b${round}`];
      await stage.insert(hot, b, hot, hot, hot, hot, b, hot);
      await stage.untilSucceeded(`${hot}/4`);
      await stage.insert(hot, b, hot, hot);
      await stage.untilHandled(hot, b);
      await stage.untilAllLive();
      await stage.insert(hot);
      await stage.untilHandled(hot);
    });
  });
});
