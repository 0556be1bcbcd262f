import type { Backlog } from '../databases/bench-database.js';
import { check } from '../readers/check.js';
import type { Reading } from '../readers/reading.js';
import type { Findings } from '../report/figure.js';
import { ratios } from '../report/statistics.js';
import { readerOf, strandline, type Stage } from './stage.js';

const KEYS = 5_000;
const SLEEPER = 17;
/** Pairs of readings per round: the difference is small beside what a busy machine adds to a single one. */
const PAIRS = 3;
/** What one sleeping key may cost the others: less than 5 %. */
const GOAL = { rule: '>=', bound: 0.95 } as const;

/** The part of a reading that the clock waits for: all keys but one. */
interface Share {
  readonly rows: number;
  readonly reading: Reading;
}

/** What a key whose handler sleeps for the whole run costs the other keys. */
export async function isolation(stage: Stage): Promise<Findings> {
  const options = {
    name: 'isolation',
    rows: stage.rows,
    perTransaction: 10,
    keys: KEYS,
    payload: 'text',
  } as const;
  stage.progress('writing the backlog isolation');
  await using backlog = await stage.database.createBacklog(options);
  const awake: Share[] = [];
  const asleep: Share[] = [];
  for (let round = 0; round < PAIRS * stage.rounds; round += 1) {
    // A, B, then B, A: whatever gets slower with time hits both alike.
    const order = round % 2 === 0 ? [false, true] : [true, false];
    for (const sleep of order) {
      stage.progress(`isolation, pair ${String(round + 1)}: ${sleep ? 'one key sleeps' : 'no key sleeps'}`);
      (sleep ? asleep : awake).push(await measure(stage, backlog, sleep));
    }
  }
  return {
    benchmark: 'isolation',
    about: `${stage.database.label}, ${stage.rows.toLocaleString('en-US')} rows, ${KEYS.toLocaleString('en-US')} keys, one of which sleeps until the others are done; offsets: ${stage.offsets.kind}`,
    figures: [
      { name: 'the others, no key sleeps', unit: 'rows/s', rounds: awake.map(speed) },
      { name: '  processor time', unit: 'µs/row', rounds: awake.map(cpu) },
      { name: 'the others, one key sleeps', unit: 'rows/s', rounds: asleep.map(speed) },
      { name: '  processor time', unit: 'µs/row', rounds: asleep.map(cpu) },
      {
        name: '  speed, of that without it',
        unit: 'ratio',
        rounds: ratios(asleep.map(speed), awake.map(speed)),
        goal: GOAL,
      },
      {
        name: '  processor time, of that without it',
        unit: 'ratio',
        rounds: ratios(asleep.map(cpu), awake.map(cpu)),
      },
    ],
  };
}

async function measure(stage: Stage, backlog: Backlog, sleep: boolean): Promise<Share> {
  const { rowsPerKey, options } = backlog;
  const untimed = { keys: [SLEEPER], rows: rowsPerKey[SLEEPER] ?? 0 };
  const reading = await backlog.withReader((name) =>
    strandline(stage, { ...readerOf(stage, backlog, name), untimed, sleep }),
  );
  check(sleep ? 'isolation, one key sleeps' : 'isolation, no key sleeps', reading, rowsPerKey);
  return { rows: options.rows - untimed.rows, reading };
}

function speed({ rows, reading }: Share): number {
  return (rows * 1_000) / (reading.endedAt - reading.startedAt);
}

function cpu({ rows, reading }: Share): number {
  return (reading.cpu * 1_000) / rows;
}
