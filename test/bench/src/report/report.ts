import type { BenchArguments } from '../arguments.js';
import type { Findings } from './figure.js';
import type { Judgement } from './judgement.js';
import type { Machine } from './machine.js';

/** All that a run has to say. */
export interface Report {
  readonly machine: Machine;
  readonly options: BenchArguments;
  readonly findings: readonly Findings[];
  readonly goals: readonly Judgement[];
}
