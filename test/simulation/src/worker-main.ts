import { parentPort, workerData } from 'node:worker_threads';
import { playSeeds } from './schedules.js';

/** Seeds that are played between two reports. */
const STEP = 500;

/** Which seeds a thread plays. */
export interface Share {
  readonly first: number;
  readonly runs: number;
}

/** Each thread has a clock of its own, which is why there are threads. */
const { first, runs } = workerData as Share;
for (let played = 0; played < runs; played += STEP) {
  const figures = await playSeeds(first + played, Math.min(STEP, runs - played));
  parentPort?.postMessage(figures);
  if (figures.broken.length > 0) break;
}
