import { Random } from '@strandline/test-kit';
import { FAULTS } from './faults/all.js';
import type { Fault } from './faults/fault.js';
import { DATABASES, type DatabaseName } from './names.js';
import { drawSetup, type Setup } from './setup.js';

/** A fault, when it is due, and the chance from which it draws how it strikes. */
export interface Strike {
  /** Milliseconds after the start. */
  readonly due: number;
  readonly fault: Fault;
  readonly random: Random;
}

/** All of a run that chance decides; the rest is what the machine makes of it. */
export interface Plan {
  readonly seed: number;
  readonly minutes: number;
  readonly setup: Setup;
  readonly load: Random;
  readonly tableChanges: Random;
  readonly strikes: readonly Strike[];
  /** When an operator mends what the broken events need: milliseconds after the start. */
  readonly mendedAt: number;
}

const BETWEEN_STRIKES = { least: 1_500, most: 6_000 };
/** The pipeline gets to work first. */
const PEACE = 2_000;

export function drawPlan(seed: number, minutes: number, database: DatabaseName): Plan {
  const random = new Random(seed * DATABASES.length + DATABASES.indexOf(database));
  const setup = drawSetup(random.branch(), seed, database);
  const length = minutes * 60_000;
  return {
    seed,
    minutes,
    setup,
    load: random.branch(),
    tableChanges: random.branch(),
    mendedAt: length * (0.3 + 0.5 * random.unit()),
    strikes: drawStrikes(random.branch(), length, setup),
  };
}

function drawStrikes(random: Random, length: number, setup: Setup): Strike[] {
  const faults = FAULTS.filter((fault) => fault.applies(setup));
  const weights = Object.fromEntries(faults.map(({ name, weight }) => [name, weight]));
  const strikes: Strike[] = [];
  let due = PEACE;
  for (;;) {
    due += random.between(BETWEEN_STRIKES.least, BETWEEN_STRIKES.most);
    const name = random.weighted(weights);
    const fault = faults.find((each) => each.name === name);
    const own = random.branch();
    if (due >= length) return strikes;
    if (fault !== undefined) strikes.push({ due, fault, random: own });
  }
}
