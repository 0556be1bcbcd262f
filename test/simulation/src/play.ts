import { takeOverTime } from './clock.js';
import type { Seen } from './promises.js';
import type { Scenario } from './scenario.js';
import { World } from './world/world.js';

let world: World | null = null;
let isTakenOver = false;

/** What went wrong in a scenario, and what it has seen. */
export interface Outcome {
  readonly error: Error | null;
  readonly seen: Seen;
}

/**
 * Plays a scenario. One at a time: the clock is that of the whole thread, and is not given back.
 *
 * @param tell is told what happens, for people to read
 */
export async function play(scenario: Scenario, tell?: (line: string) => void): Promise<Outcome> {
  world = new World(scenario, tell);
  if (!isTakenOver) takeOver();
  const { seen } = world.promises;
  try {
    await world.play();
    return { error: null, seen };
  } catch (error) {
    return { error: error as Error, seen };
  }
}

function takeOver(): void {
  isTakenOver = true;
  takeOverTime(given);
  // Most errors here are meant, and to write down where they came from takes longer than all else.
  Error.stackTraceLimit = 0;
  // It would end a real process: here it ends the schedule.
  process.on('unhandledRejection', (error) => {
    given().fail(error as Error);
  });
}

function given(): World {
  if (world === null) throw new Error('no schedule is played');
  return world;
}
