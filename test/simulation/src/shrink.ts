import fc from 'fast-check';
import { play } from './play.js';
import type { Scenario } from './scenario.js';

/** What of a scenario is kept, in a fixed order. */
type Kept = readonly boolean[];

/** The smallest scenario that fast-check finds, which breaks a promise by the same seed. */
export async function shrunk(scenario: Scenario): Promise<Scenario> {
  const parts = partsOf(scenario);
  const property = fc.asyncProperty(
    fc.tuple(...Array.from({ length: parts }, () => fc.boolean())),
    async (kept) => (await play(without(scenario, kept))).error === null,
  );
  const everything: Kept = Array.from({ length: parts }, () => true);
  const { counterexample } = await fc.check(property, { examples: [[[...everything]]], numRuns: 1 });
  return without(scenario, counterexample?.[0] ?? everything);
}

/** Commits, faults, and what can be left out as a whole. */
function partsOf({ commits, faults }: Scenario): number {
  return commits.length + faults.length + 4;
}

function without(scenario: Scenario, kept: Kept): Scenario {
  const { commits, faults, temper, poison, crew } = scenario;
  const rest = kept.slice(commits.length + faults.length);
  const [fails = true, hangs = true, isPoisoned = true, isFull = true] = rest;
  return {
    ...scenario,
    commits: commits.filter((_, index) => kept[index]),
    faults: faults.filter((_, index) => kept[commits.length + index]),
    temper: { ...temper, fails: fails ? temper.fails : 0, hangs: hangs ? temper.hangs : 0 },
    poison: isPoisoned ? poison : null,
    crew: isFull ? crew : 1,
  };
}
