import type { Grid } from './grid.js';
import { median } from './statistics.js';

export type Unit = 'rows/s' | 'µs/row' | 'ms' | 'MiB' | 'ratio' | 'count';

/** What is asked of a figure's median. */
export interface Goal {
  readonly rule: '>=' | '<';
  readonly bound: number;
}

/** One measured quantity: a value per round. */
export interface Figure {
  readonly name: string;
  readonly unit: Unit;
  readonly rounds: readonly number[];
  readonly goal?: Goal;
}

/** What a benchmark found out. It exists only when every reading passed its check. */
export interface Findings {
  readonly benchmark: string;
  /** What was measured, in a sentence. */
  readonly about: string;
  readonly figures: readonly Figure[];
  readonly grid?: Grid;
  /** What has to be said besides, a sentence each. */
  readonly notes?: readonly string[];
}

export function isMet({ rounds, goal }: Figure): boolean | null {
  if (goal === undefined) return null;
  const value = median(rounds);
  return goal.rule === '<' ? value < goal.bound : value >= goal.bound;
}
