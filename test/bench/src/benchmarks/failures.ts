import type { Backlog } from '../databases/bench-database.js';
import { check } from '../readers/check.js';
import type { Reading } from '../readers/reading.js';
import type { Findings } from '../report/figure.js';
import { ratios } from '../report/statistics.js';
import { failing, readerOf, type Stage } from './stage.js';

const KEYS = 1_000;
/** The keys whose handlers fail for ever: 1 % of them. */
const FAILING = Array.from({ length: 10 }, (_, n) => 50 + 100 * n);
/** Pairs of readings per round: the difference is small beside what a busy machine adds to a single one. */
const PAIRS = 3;
/** What they may cost the other 990: less than 5 %. */
const GOAL = { rule: '>=', bound: 0.95 } as const;

interface Share {
  readonly rows: number;
  readonly reading: Reading;
}

/** What keys that are parked cost the other keys. */
export async function failures(stage: Stage): Promise<Findings> {
  const options = {
    name: 'failures',
    rows: stage.rows,
    perTransaction: 10,
    keys: KEYS,
    payload: 'text',
  } as const;
  stage.progress('writing the backlog failures');
  await using backlog = await stage.database.createBacklog(options);
  const well: Share[] = [];
  const ill: Share[] = [];
  for (let round = 0; round < PAIRS * stage.rounds; round += 1) {
    // A, B, then B, A: whatever gets slower with time hits both alike.
    for (const fail of round % 2 === 0 ? [false, true] : [true, false]) {
      stage.progress(`failures, pair ${String(round + 1)}: ${fail ? 'ten keys fail' : 'none fails'}`);
      (fail ? ill : well).push(await measure(stage, backlog, fail));
    }
  }
  return {
    benchmark: 'failures',
    about: `${stage.database.label}, ${stage.rows.toLocaleString('en-US')} rows, ${KEYS.toLocaleString('en-US')} keys, ${String(FAILING.length)} of which fail for ever and are parked beside the outbox; offsets: ${stage.offsets.kind}`,
    figures: [
      { name: 'the other 990, none fails', unit: 'rows/s', rounds: well.map(speed) },
      { name: '  processor time', unit: 'µs/row', rounds: well.map(cpu) },
      { name: 'the other 990, ten fail', unit: 'rows/s', rounds: ill.map(speed) },
      { name: '  processor time', unit: 'µs/row', rounds: ill.map(cpu) },
      {
        name: '  speed, of that without them',
        unit: 'ratio',
        rounds: ratios(ill.map(speed), well.map(speed)),
        goal: GOAL,
      },
      {
        name: '  processor time, of that without them',
        unit: 'ratio',
        rounds: ratios(ill.map(cpu), well.map(cpu)),
      },
    ],
  };
}

async function measure(stage: Stage, backlog: Backlog, fail: boolean): Promise<Share> {
  const { rowsPerKey, options } = backlog;
  const untimed = { keys: FAILING, rows: FAILING.reduce((sum, key) => sum + (rowsPerKey[key] ?? 0), 0) };
  const reading = await backlog.withReader((name) =>
    failing({ ...readerOf(stage, backlog, name), offsets: stage.offsets, untimed, fail }),
  );
  check(fail ? 'failures, ten keys fail' : 'failures, none fails', reading, rowsPerKey);
  return { rows: options.rows - untimed.rows, reading };
}

function speed({ rows, reading }: Share): number {
  return (rows * 1_000) / (reading.endedAt - reading.startedAt);
}

function cpu({ rows, reading }: Share): number {
  return (reading.cpu * 1_000) / rows;
}
