import type { HandlerBehaviour, Random } from '@strandline/test-kit';
import { BROKEN } from './load/broken.js';
import { FIRST_ODD, keyName, KEYS } from './load/keys.js';
import { DATABASES, type DatabaseName } from './names.js';

/** What a run is made of, all of it drawn from its seed. */
export interface Setup {
  readonly database: DatabaseName;
  readonly offsets: 'redis' | 'file';
  /** Processes of the pipeline: one works, the others stand by. */
  readonly seats: number;
  /** Whether there is a dead-letter table, and events that end there. */
  readonly letters: boolean;
  readonly behaviour: HandlerBehaviour;
}

/** Of the three databases that a seed can be run on, one keeps its offsets in files. */
export function drawSetup(random: Random, seed: number, database: DatabaseName): Setup {
  const offsets = seed % DATABASES.length === DATABASES.indexOf(database) ? 'file' : 'redis';
  const letters = random.chance(0.6);
  return {
    database,
    offsets,
    seats: random.chance(0.3) ? 3 : 2,
    letters,
    behaviour: drawBehaviour(random, letters),
  };
}

function drawBehaviour(random: Random, letters: boolean): HandlerBehaviour {
  const slow = random.between(FIRST_ODD, KEYS - 1);
  const failing = random.between(FIRST_ODD, KEYS - 2);
  return {
    delay: random.between(1, 8),
    jitter: true,
    delays: { [keyName(slow)]: random.between(50, 150) },
    failFirst: { [keyName(failing)]: 2, [keyName(failing + 1)]: 1 },
    ...(letters ? { broken: BROKEN } : {}),
  };
}
