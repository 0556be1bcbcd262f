import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { mutations } from '../src/mutations.js';
import { playMutant } from '../src/mutants.js';
import type { Figures } from '../src/schedules.js';

/** `npm run simulate` plays as many as you like. */
const RUNS = 10_000;
/** Drawn anew in each run: what fails says which one it was. */
const SEED = Math.floor(Math.random() * 1_000_000_000);
/** The clock of a simulation is that of its whole thread: it has a process of its own. */
const main = path.resolve(import.meta.dirname, '..', 'dist', 'main.js');

async function simulate(...args: readonly string[]): Promise<string> {
  // Broken promises are told on stdout, whatever the exit code.
  const failed = (error: unknown): { stdout: string } => error as { stdout: string };
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args]).catch(failed);
  return stdout;
}

describe(`whatever crashes, fails, hangs, stands still or comes late (${String(RUNS)} schedules from seed ${String(SEED)})`, () => {
  test(
    'nothing is lost, keys stay in order, offsets stay behind settled work',
    { timeout: 240_000 },
    async () => {
      const args = ['--seed', String(SEED), '--runs', String(RUNS), '--json'];
      const { broken, runs, rows, seen, faults } = JSON.parse(await simulate(...args)) as Figures;
      expect(
        broken.map(({ seed, error }) => `npm run simulate -- --seed ${String(seed)} --runs 1: ${error}`),
      ).toEqual([]);
      expect(runs).toBe(RUNS);
      // That it has seen something: rows, redelivered ones, letters, take-overs, and every kind of fault.
      expect(seen.starts).toBeGreaterThan(rows);
      expect(seen.redelivered).toBeGreaterThan(RUNS / 10);
      expect(seen.parked).toBeGreaterThan(RUNS / 10);
      expect(seen.terms).toBeGreaterThan(RUNS);
      expect(Object.keys(faults).toSorted()).toEqual([
        ...[
          'cut',
          'discard',
          'hold',
          'hold here',
          'kill',
          'letters away',
          'offsets away',
          'park now',
          'pause',
          'rest',
          'retry',
          'skew',
          'skip',
          'skip now',
          'stop',
          'try now',
        ],
      ]);
    },
  );

  test('what was found once stays mended', async () => {
    const { runs, broken } = JSON.parse(await simulate('--found', '--json')) as Figures;
    expect(broken).toEqual([]);
    expect(runs).toBeGreaterThan(3);
  });

  test('a seed is a schedule: played again it comes to the same', async () => {
    const play = async (): Promise<Figures> =>
      JSON.parse(
        await simulate('--seed', String(SEED), '--runs', '50', '--threads', '1', '--json'),
      ) as Figures;
    const [first, second] = [await play(), await play()];
    expect(second).toEqual({ ...first, seconds: expect.any(Number) as number });
  });
});

describe('a fault of one line is found', () => {
  test.each(mutations)('$name', { timeout: 120_000 }, async (mutation) => {
    const { broken } = await playMutant(mutation);
    expect(broken.length).toBeGreaterThan(0);
  });
});
