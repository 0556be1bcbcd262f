import { found } from './found.js';
import { play } from './play.js';
import type { Seen } from './promises.js';
import { drawScenario, type FaultKind, type Scenario } from './scenario.js';

/** A seed whose schedule broke a promise. */
export interface BrokenSeed {
  readonly seed: number;
  /** What it is called, of one that was found before. */
  readonly name?: string;
  readonly error: string;
}

/** What many schedules came to. */
export interface Figures {
  runs: number;
  /** Committed rows. */
  rows: number;
  readonly seen: Seen;
  /** How often each fault struck; one that found nobody to strike counts as well. */
  readonly faults: Partial<Record<FaultKind, number>>;
  readonly broken: BrokenSeed[];
}

export function noFigures(): Figures {
  return {
    runs: 0,
    rows: 0,
    seen: { starts: 0, redelivered: 0, parked: 0, terms: 0 },
    faults: {},
    broken: [],
  };
}

/** Broken seeds after which it is enough. */
const ENOUGH = 3;

/** Plays the schedules of so many seeds, from one on; stops when so many have broken a promise. */
export async function playSeeds(first: number, runs: number, enough = ENOUGH): Promise<Figures> {
  const figures = noFigures();
  for (let seed = first; seed < first + runs && figures.broken.length < enough; seed += 1) {
    add(figures, await playOne(drawScenario(seed)));
  }
  return figures;
}

/** Plays what was found once. */
export async function playFound(): Promise<Figures> {
  const figures = noFigures();
  for (const { name, scenario } of found) {
    const { broken, ...rest } = await playOne(scenario);
    add(figures, { ...rest, broken: broken.map((one) => ({ ...one, name })) });
  }
  return figures;
}

async function playOne(scenario: Scenario): Promise<Figures> {
  const { error, seen } = await play(scenario);
  const faults: Figures['faults'] = {};
  for (const { kind } of scenario.faults) faults[kind] = (faults[kind] ?? 0) + 1;
  const rows = scenario.commits.reduce((sum, { keys }) => sum + keys.length, 0);
  const broken = error === null ? [] : [{ seed: scenario.seed, error: error.message }];
  return { runs: 1, rows, seen, faults, broken };
}

/** Adds what others have played. */
export function add(figures: Figures, more: Figures): void {
  figures.runs += more.runs;
  figures.rows += more.rows;
  for (const name of Object.keys(figures.seen) as (keyof Seen)[]) figures.seen[name] += more.seen[name];
  for (const kind of Object.keys(more.faults) as FaultKind[])
    figures.faults[kind] = (figures.faults[kind] ?? 0) + (more.faults[kind] ?? 0);
  figures.broken.push(...more.broken);
}
