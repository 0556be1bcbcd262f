import type { DatabaseName } from './names.js';

/** A run that has failed once, and what was wrong. */
export interface FailedSeed {
  readonly seed: number;
  readonly minutes: number;
  readonly database: DatabaseName;
  readonly cause: string;
}

/** Not played in each run of the tests, which draw new ones; `npm run chaos -- --failed` plays them all. */
export const FAILED_SEEDS: readonly FailedSeed[] = [];
