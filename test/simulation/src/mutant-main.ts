import { add, playFound, playSeeds } from './schedules.js';

/**
 * What a build with a fault in it plays: what was found once, and then so many seeds from one on, up to the first that
 * breaks a promise. Prints the figures as JSON.
 */
const [first, runs] = process.argv.slice(2).map(Number);
if (first === undefined || runs === undefined) throw new Error('usage: mutant-main.js FIRST-SEED RUNS');
const figures = await playFound();
if (figures.broken.length === 0) add(figures, await playSeeds(first, runs, 1));
process.stdout.write(JSON.stringify(figures));
// A fault can leave a timer behind.
process.exit(0);
