import { goalOf } from '../goals.js';
import type { Figure, Findings } from '../report/figure.js';
import { grouped } from '../report/format.js';
import { killed, killedUnderLoad, type Recovered } from './killed.js';
import { written, type Stage } from './stage.js';

const KEYS = 5_000;

/** What a SIGKILL costs: the process of a pipeline is killed, and started again at once, as a supervisor would. */
export async function recovery(stage: Stage): Promise<Findings> {
  const live: Recovered[] = [];
  for (let round = 0; round < stage.rounds; round += 1) {
    stage.progress(`recovery, round ${String(round + 1)}: under live load`);
    live.push(await killedUnderLoad(stage, `recovery_live_${String(round)}`));
  }
  const full = await atFullRate(stage);
  return {
    benchmark: 'recovery',
    about: `${stage.database.label}; a pipeline's process is killed and started again at once: under 1,000 rows/s, and in the middle of a backlog of ${grouped(stage.rows)} rows; offsets: ${stage.offsets.kind}`,
    figures: [
      ...figuresOf('under live load', live, stage, true),
      ...figuresOf('at full rate', full, stage, false),
    ],
  };
}

async function atFullRate(stage: Stage): Promise<Recovered[]> {
  const { rows } = stage;
  const options = { name: 'recovery_full', rows, perTransaction: 10, keys: KEYS, payload: 'text' } as const;
  await using backlog = await written(stage, options);
  const results: Recovered[] = [];
  for (let round = 0; round < stage.rounds; round += 1) {
    stage.progress(`recovery, round ${String(round + 1)}: at full rate`);
    results.push(await killed(stage, backlog));
  }
  return results;
}

function figuresOf(
  title: string,
  rounds: readonly Recovered[],
  { database }: Stage,
  live: boolean,
): Figure[] {
  const goal = goalOf(live ? 'recovery' : 'duplicates', database.name);
  const figure = (name: string, unit: Figure['unit'], of: (round: Recovered) => number): Figure => ({
    name,
    unit,
    rounds: rounds.map(of),
  });
  return [
    {
      ...figure(`${title}: SIGKILL to the first new event`, 'ms', ({ toNew }) => toNew),
      goal: live ? goal : undefined,
    },
    figure('  to the first event of all', 'ms', ({ toAny }) => toAny),
    figure('  of that until it streams', 'ms', ({ toReady }) => toReady),
    figure('  duplicates', 'count', ({ duplicates }) => duplicates),
    figure('  in flight, or settled within 100 ms before', 'count', ({ allowed }) => allowed),
    {
      ...figure('  duplicates, of those', 'ratio', ({ duplicates, allowed }) => duplicates / allowed),
      goal: live ? undefined : goal,
    },
  ];
}
