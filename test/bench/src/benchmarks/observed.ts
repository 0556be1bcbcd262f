import { goalOf, type GoalName } from '../goals.js';
import type { Figure, Findings } from '../report/figure.js';
import { grouped } from '../report/format.js';
import { ratios } from '../report/statistics.js';
import { speed } from '../workloads/figures.js';
import { measureWorkload, type Lane } from '../workloads/measure.js';
import { OBSERVED } from '../workloads/workloads.js';
import type { Stage } from './stage.js';

/** The goals of the variants, in their order; the first one is what they are compared with. */
const GOALS_OF_VARIANTS: readonly (GoalName | null)[] = [null, 'observedByMetrics', null, 'observedByTraces'];

/** What metrics and traces cost a pipeline that does nothing else. */
export async function observed(stage: Stage): Promise<Findings> {
  const lanes = await measureWorkload(stage, OBSERVED);
  const { database, offsets } = stage;
  return {
    benchmark: 'observed',
    about: `${database.label}, a backlog of ${grouped(stage.rows * OBSERVED.log.share)} rows, 10 rows a transaction, an async handler that does nothing; offsets: ${offsets.kind}`,
    figures: lanes.flatMap((lane, index) =>
      figuresOf(stage, lane, lanes[0], GOALS_OF_VARIANTS[index] ?? null),
    ),
  };
}

function figuresOf(stage: Stage, lane: Lane, alone: Lane | undefined, goal: GoalName | null): Figure[] {
  const figures: Figure[] = [
    { name: lane.name, unit: 'rows/s', rounds: lane.readings.map(speed) },
    { name: '  processor time', unit: 'µs/row', rounds: cpuOf(lane) },
  ];
  if (alone === undefined || lane === alone) return figures;
  return [
    ...figures,
    {
      name: '  speed, of that with no listener',
      unit: 'ratio',
      rounds: ratios(lane.readings.map(speed), alone.readings.map(speed)),
      goal: goal === null ? undefined : goalOf(goal, stage.database.name),
    },
    {
      name: '  processor time, of that with no listener',
      unit: 'ratio',
      rounds: ratios(cpuOf(lane), cpuOf(alone)),
    },
  ];
}

function cpuOf({ readings }: Lane): number[] {
  return readings.map(({ cpu, seen }) => (cpu * 1_000) / seen);
}
