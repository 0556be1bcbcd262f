import { add, playFound, playSeeds } from './schedules.js';

/**
 * What a build with a fault in it plays up to the first schedule that breaks a promise: what was found once, the seed that
 * is named, and so many seeds from 1 on. Prints the figures as JSON.
 */
const [runs, likely] = process.argv.slice(2).map(Number);
if (runs === undefined || likely === undefined) throw new Error('usage: mutant-main.js RUNS LIKELY-SEED');
const figures = await playFound();
for (const [first, count] of [
  [likely, 1],
  [1, runs],
] as const)
  if (figures.broken.length === 0) add(figures, await playSeeds(first, count, 1));
process.stdout.write(JSON.stringify(figures));
// A fault can leave a timer behind.
process.exit(0);
