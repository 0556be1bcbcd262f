import type { DatabaseName } from '../databases/names.js';
import { GOALS, goalOf, type GoalName } from '../goals.js';
import { isMet, type Figure, type Findings, type Goal, type Unit } from './figure.js';
import { median } from './statistics.js';

/** One goal, and what became of it. */
export interface Judgement {
  readonly benchmark: string;
  readonly what: string;
  readonly rule: Goal['rule'];
  readonly bound: number;
  readonly unit: Unit;
  /** The median; null when the run did not measure it. */
  readonly measured: number | null;
  readonly met: boolean | null;
}

/** Every goal that the findings have, and those of the database that this run has not measured. */
export function judge(database: DatabaseName, findings: readonly Findings[]): Judgement[] {
  const judged = findings.flatMap(({ benchmark, figures }) =>
    figures.flatMap((figure) => judgementOf(benchmark, figure)),
  );
  const seen = new Set(judged.map(({ what }) => what));
  const missing = (Object.keys(GOALS) as GoalName[]).flatMap((name) => {
    const goal = goalOf(name, database);
    if (goal === undefined || seen.has(goal.what)) return [];
    const { unit, benchmark } = GOALS[name];
    return [{ benchmark, ...goal, unit, measured: null, met: null }];
  });
  return [...judged, ...missing];
}

function judgementOf(benchmark: string, figure: Figure): Judgement[] {
  const { name, unit, rounds, goal } = figure;
  if (goal === undefined) return [];
  const { rule, bound, what = `${benchmark}: ${name.trim()}` } = goal;
  return [{ benchmark, what, rule, bound, unit, measured: median(rounds), met: isMet(figure) }];
}
