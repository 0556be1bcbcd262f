import type { Figure, Findings } from '../report/figure.js';
import { grouped } from '../report/format.js';
import { against, figuresOf } from '../workloads/figures.js';
import { measureWorkload, type Lane } from '../workloads/measure.js';
import type { Workload } from '../workloads/workload.js';
import { goalOf } from '../goals.js';
import type { Stage } from './stage.js';

/** How fast backlogs are drained, beside readers that do less: a benchmark of a list of workloads. */
export function draining(benchmark: string, workloads: readonly Workload[]) {
  return async (stage: Stage): Promise<Findings> => {
    const results = new Map<string, readonly Lane[]>();
    const figures: Figure[] = [];
    for (const workload of chosen(workloads, stage.workloads)) {
      const lanes = await measureWorkload(stage, workload);
      results.set(workload.name, lanes);
      figures.push(...figuresOf(stage.database.name, workload, lanes), ...compared(stage, workload, results));
    }
    const { database, offsets } = stage;
    const most = stage.rows * Math.max(...workloads.map(({ log }) => log.share));
    return {
      benchmark,
      about: `${database.label}, backlogs of up to ${grouped(most)} rows; unless it says otherwise 10 rows a transaction, 200 B, 5,000 keys, an async handler that does nothing; offsets: ${offsets.kind}`,
      figures,
    };
  };
}

/** Those with these names, and those that they are compared with; all, when no name is given. */
export function chosen(workloads: readonly Workload[], names: readonly string[]): readonly Workload[] {
  if (names.length === 0) return workloads;
  const named = workloads.filter(({ name }) => names.includes(name));
  const others = named.map((workload) => workload.against);
  return workloads.filter((workload) => named.includes(workload) || others.includes(workload.name));
}

function compared(
  { database }: Stage,
  { against: name, goals }: Workload,
  results: ReadonlyMap<string, readonly Lane[]>,
): Figure[] {
  if (name === undefined) return [];
  const [other = [], own = []] = [results.get(name), [...results.values()].at(-1)];
  const goal = goals?.against === undefined ? undefined : goalOf(goals.against, database.name);
  return [{ name: `  of its rate with 5,000 keys`, unit: 'ratio', rounds: against(own, other), goal }];
}
