import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '@strandline/test-kit';
import { figuresOf, type Figures } from './figures.js';
import { TableChanges } from './load/table-changes.js';
import { Writers } from './load/writers.js';
import type { Plan } from './plan.js';
import { Stage } from './stage.js';
import { Striker } from './striker.js';
import { Timeline } from './timeline.js';
import { stateOf, type Unrest } from './unrest.js';
import { verdictOf, type Verdict } from './verdict.js';

/** After the end of all load and faults everything that committed is handled within this time. */
const QUIET_END = 120_000;
/** Between two looks whether it is. */
const LOOK = 500;

/** What a run has come to. */
export interface Outcome extends Verdict {
  readonly plan: Plan;
  readonly figures: Figures;
  readonly timeline: Timeline;
}

/** Servers, processes, load and faults by a plan; then peace, and the verdict. */
export async function runPlan(plan: Plan): Promise<Outcome> {
  const timeline = new Timeline();
  await using stage = await Stage.open(plan.setup, timeline);
  const load = await torment(plan, stage, timeline);
  const loadEnded = Date.now();
  timeline.note('load and faults are over');
  const unrest = await comeToRest(stage, timeline);
  await stage.crew.stop();
  await stage.watch.look();
  await stage.watch.stop();
  const verdict = await verdictOf(stage, unrest, loadEnded);
  return {
    ...verdict,
    plan,
    timeline,
    figures: figuresOf({ stage, timeline, verdict, load, loadEnded }),
  };
}

/** Load and faults, as long as the plan says. */
async function torment(plan: Plan, stage: Stage, timeline: Timeline): Promise<Writers['counts']> {
  const over = new AbortController();
  const open = () => stage.database.open();
  const writers = new Writers(open, plan.load);
  const changes = new TableChanges(open, plan.tableChanges, (says) => {
    timeline.note(says);
  });
  try {
    await Promise.all([
      new Striker(stage, timeline).strikeAll(plan.strikes, over.signal),
      operate(plan, stage),
      sleep(plan.minutes * 60_000),
    ]);
  } finally {
    over.abort();
    await changes.stop();
    await writers.stop();
  }
  return writers.counts;
}

/** Somebody looks after what is broken, once in the course of a run. */
async function operate({ mendedAt }: Plan, { operator, crew }: Stage): Promise<void> {
  await sleep(mendedAt);
  operator.mend(crew);
  await operator.release();
}

/** Null when everything that committed was handled in time. */
async function comeToRest(stage: Stage, timeline: Timeline): Promise<Unrest | null> {
  const { operator, crew, history } = stage;
  operator.mend(crew);
  const isAtRest = async (): Promise<boolean> => {
    await operator.release();
    if ((await operator.waiting()) > 0) return false;
    const rows = await stage.committed.rows();
    const { succeeded } = history.refresh();
    return rows.every(({ id }) => succeeded.has(id));
  };
  try {
    await waitUntil('everything is handled', isAtRest, { deadlineMs: QUIET_END, everyMs: LOOK });
    return null;
  } catch (error) {
    timeline.note('it does not come to rest');
    return {
      says: error instanceof Error ? error.message : String(error),
      crew: await Promise.all(crew.alive.map((life) => stateOf(life))),
    };
  }
}
