import { median } from './statistics.js';

/** `µs/row` of processor time are processor seconds per million events: the same number. */
export type Unit = 'rows/s' | 'µs/row' | 'ms' | 'MiB' | 'bytes' | 'ratio' | 'count';

/** What is asked of a figure's median. */
export interface Goal {
  readonly rule: '>=' | '<=' | '<';
  readonly bound: number;
  /** What is asked for, as the table of goals says it; without, the figure's name says enough. */
  readonly what?: string;
}

/** One measured quantity: a value per round. */
export interface Figure {
  readonly name: string;
  readonly unit: Unit;
  readonly rounds: readonly number[];
  readonly goal?: Goal | undefined;
}

/** Findings that are no figures of rounds: a table of plain cells. */
export interface Grid {
  readonly headings: readonly string[];
  readonly rows: readonly (readonly string[])[];
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
  switch (goal.rule) {
    case '>=':
      return value >= goal.bound;
    case '<=':
      return value <= goal.bound;
    case '<':
      return value < goal.bound;
  }
}

/** Figures that were not measured in any round, such as the processor time of a program that does not tell, are left out. */
export function measured(figures: readonly Figure[]): Figure[] {
  return figures.filter(({ rounds }) => rounds.length > 0 && !rounds.every(Number.isNaN));
}
