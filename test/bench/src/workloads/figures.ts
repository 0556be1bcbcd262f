import type { DatabaseName } from '../databases/names.js';
import { goalOf, type GoalName } from '../goals.js';
import type { Reading } from '../readers/reading.js';
import { measured, type Figure, type Goal } from '../report/figure.js';
import { ratios } from '../report/statistics.js';
import type { Lane } from './measure.js';
import type { Workload } from './workload.js';

/** Rows a second, from the moment when the server began to stream to the last row. */
export function speed({ seen, startedAt, endedAt }: Reading): number {
  return (seen * 1_000) / (endedAt - startedAt);
}

/** All that a workload has to say; the goals are judged by Strandline's first variant. */
export function figuresOf(database: DatabaseName, workload: Workload, lanes: readonly Lane[]): Figure[] {
  const main = lanes.find(({ is }) => is === 'strandline');
  return lanes.flatMap((lane) => {
    const goal = (name: GoalName | undefined): Goal | undefined =>
      lane === main && name !== undefined ? goalOf(name, database) : undefined;
    return measured([
      { name: `${workload.title}: ${lane.name}`, unit: 'rows/s', rounds: lane.readings.map(speed) },
      ...comparisons(lane, lanes, goal, workload),
      ...(lane.is === 'strandline' ? waitFigures(lane, workload) : []),
      ...costs(lane),
    ]);
  });
}

/** Strandline's speed as a share of each other reader's, of the same round. */
function comparisons(
  lane: Lane,
  lanes: readonly Lane[],
  goal: (name: GoalName | undefined) => Goal | undefined,
  { goals }: Workload,
): Figure[] {
  if (lane.is !== 'strandline') return [];
  const peers = lanes.filter(({ is }) => is !== 'strandline');
  return peers.map((peer) => ({
    name: `  of ${peer.is === 'bare' ? 'the bare library' : peer.name}`,
    unit: 'ratio',
    rounds: ratios(lane.readings.map(speed), peer.readings.map(speed)),
    goal: peer.is === 'strandline' ? undefined : goal(goals?.[peer.is]),
  }));
}

/** What handlers that wait allow at best: so many at once, each for so long. */
function waitFigures({ readings }: Lane, { variants }: Workload): Figure[] {
  const { wait, concurrency } = variants[0].settings;
  if (wait === undefined || concurrency === undefined) return [];
  const waits = readings.map((reading) => ('measuredWait' in reading ? reading.measuredWait : NaN));
  const ofIdeal = (reading: Reading, milliseconds: number): number =>
    (speed(reading) * milliseconds) / (concurrency * 1_000);
  return [
    {
      name: '  of concurrency / latency',
      unit: 'ratio',
      rounds: readings.map((reading) => ofIdeal(reading, wait.mean)),
    },
    {
      name: '  of concurrency / latency as measured',
      unit: 'ratio',
      rounds: readings.map((reading, round) => ofIdeal(reading, waits[round] ?? NaN)),
    },
    { name: '  latency of a handler, as measured', unit: 'ms', rounds: waits },
  ];
}

function costs({ readings }: Lane): Figure[] {
  return [
    {
      name: '  processor time',
      unit: 'µs/row',
      rounds: readings.map(({ cpu, seen }) => (cpu * 1_000) / seen),
    },
    { name: '  resident set, peak', unit: 'MiB', rounds: readings.map(({ peakMib }) => peakMib) },
    {
      name: '  questions of the gate',
      unit: 'count',
      rounds: readings.flatMap((reading) => ('questions' in reading ? [reading.questions] : [])),
    },
  ];
}

/** How Strandline's first variant does on one workload, beside how it does on another, each by its own bare library. */
export function against(lanes: readonly Lane[], others: readonly Lane[]): number[] {
  return ratios(ofBare(lanes), ofBare(others));
}

function ofBare(lanes: readonly Lane[]): number[] {
  const speeds = (is: Lane['is']): number[] =>
    lanes.find((lane) => lane.is === is)?.readings.map(speed) ?? [];
  return ratios(speeds('strandline'), speeds('bare'));
}
