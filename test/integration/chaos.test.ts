import { randomInt } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { failureText } from '../chaos/src/failure.js';
import { DATABASES } from '../chaos/src/names.js';
import { drawPlan } from '../chaos/src/plan.js';
import { runPlan } from '../chaos/src/run.js';

/** With the start of the servers and the quiet end it makes three quarters of a minute each. `npm run chaos` runs for hours. */
const MINUTES = 0.5;
/** Drawn anew in each run: a failure prints the command that repeats it. */
const SEED = randomInt(2 ** 31 - 1);

describe.each(DATABASES)('%s: half a minute of chaos', (database) => {
  test(
    'loses nothing, swaps nothing, has one owner at a time, and comes to rest',
    { timeout: 300_000 },
    async () => {
      const outcome = await runPlan(drawPlan(SEED, MINUTES, database));
      if (outcome.faults.length > 0) expect.fail(failureText(outcome));
      // It was no run of peace.
      expect(outcome.figures.events).toBeGreaterThan(500);
      expect(outcome.timeline.struck.length).toBeGreaterThan(2);
    },
  );
});
