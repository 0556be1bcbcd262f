import type { Backlog } from '../databases/bench-database.js';
import { goalOf, type GoalName } from '../goals.js';
import { startJob } from '../processes/start-job.js';
import { check } from '../readers/check.js';
import type { Reading } from '../readers/reading.js';
import type { Trouble } from '../readers/troubled.js';
import type { Figure, Findings } from '../report/figure.js';
import { grouped } from '../report/format.js';
import { ratios } from '../report/statistics.js';
import { readerOf, written, type Stage } from './stage.js';

/** Of the backlogs' rows: with more the two of a pair would lie further apart. */
const SHARE = 0.5;
/** Pairs of readings per round: the difference is small beside what a busy machine adds to a single one. */
const PAIRS = 2;

interface Case {
  readonly name: string;
  readonly title: string;
  readonly trouble: Trouble;
  readonly keys: number;
  /** Of the keys, so many are in trouble, at equal distances. */
  readonly troubled: number;
  readonly goal: GoalName;
}

/** What is in trouble fits into the window: 10,000 events by default. A full window stops everybody, and says so. */
const CASES: readonly Case[] = [
  {
    ...{ name: 'stuck', title: 'one key is stuck', trouble: 'stuck' },
    ...{ keys: 5_000, troubled: 1, goal: 'stuckKey' },
  },
  {
    ...{ name: 'backoff', title: '1,000 keys in backoff', trouble: 'backoff' },
    ...{ keys: 100_000, troubled: 1_000, goal: 'keysInBackoff' },
  },
  {
    ...{ name: 'parked', title: '10 keys parked', trouble: 'parked' },
    ...{ keys: 1_000, troubled: 10, goal: 'parkedKeys' },
  },
];

/** The part of a reading that the clock waits for: the keys that are well. */
interface Share {
  readonly rows: number;
  readonly reading: Reading;
}

/** What keys in trouble cost the others. */
export async function isolation(stage: Stage): Promise<Findings> {
  const figures: Figure[] = [];
  for (const each of CASES) figures.push(...(await measureCase(stage, each)));
  return {
    benchmark: 'isolation',
    about: `${stage.database.label}, ${grouped(SHARE * stage.rows)} rows; the speed of the keys that are well, while others are in trouble until they are done; offsets: ${stage.offsets.kind}`,
    figures,
  };
}

async function measureCase(stage: Stage, each: Case): Promise<Figure[]> {
  const { keys, title, name, trouble } = each;
  const rows = Math.round(SHARE * stage.rows);
  await using backlog = await written(stage, { name, rows, perTransaction: 10, keys, payload: 'text' });
  const well: Share[] = [];
  const ill: Share[] = [];
  for (let pair = 0; pair < PAIRS * stage.rounds; pair += 1) {
    // A, B, then B, A: whatever gets slower with time hits both alike.
    for (const isIll of pair % 2 === 0 ? [false, true] : [true, false]) {
      stage.progress(`${name}, pair ${String(pair + 1)}: ${isIll ? title : 'all are well'}`);
      (isIll ? ill : well).push(await measure(stage, backlog, each, isIll ? trouble : 'nothing'));
    }
  }
  return [
    { name: `${title}: the others, without`, unit: 'rows/s', rounds: well.map(speed) },
    { name: '  processor time', unit: 'µs/row', rounds: well.map(cpu) },
    { name: `${title}: the others`, unit: 'rows/s', rounds: ill.map(speed) },
    { name: '  processor time', unit: 'µs/row', rounds: ill.map(cpu) },
    {
      name: '  speed, of that without',
      unit: 'ratio',
      rounds: ratios(ill.map(speed), well.map(speed)),
      goal: goalOf(each.goal, stage.database.name),
    },
    {
      name: '  processor time, of that without',
      unit: 'ratio',
      rounds: ratios(ill.map(cpu), well.map(cpu)),
    },
  ];
}

async function measure(
  stage: Stage,
  backlog: Backlog,
  { name, keys, troubled }: Case,
  trouble: Trouble,
): Promise<Share> {
  const { rowsPerKey, options } = backlog;
  const distance = keys / troubled;
  const chosen = Array.from({ length: troubled }, (_, n) => Math.floor((n + 0.5) * distance));
  const untimed = { keys: chosen, rows: chosen.reduce((sum, key) => sum + (rowsPerKey[key] ?? 0), 0) };
  const reading = await backlog.withReader((reader) => {
    const { offsets } = stage;
    return startJob('troubled', { ...readerOf(stage, backlog, reader), offsets, untimed, trouble }).result;
  });
  check(`${name}, ${trouble}`, reading, rowsPerKey);
  return { rows: options.rows - untimed.rows, reading };
}

function speed({ rows, reading }: Share): number {
  return (rows * 1_000) / (reading.endedAt - reading.startedAt);
}

function cpu({ rows, reading }: Share): number {
  return (reading.cpu * 1_000) / rows;
}
