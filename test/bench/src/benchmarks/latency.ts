import { startJob } from '../processes/start-job.js';
import { check } from '../readers/check.js';
import type { Reading } from '../readers/reading.js';
import type { StrandlineReading } from '../readers/strandline.js';
import type { Figure, Findings, Goal } from '../report/figure.js';
import { percentile, ratios } from '../report/statistics.js';
import type { Writing } from '../writer/paced-writer.js';
import { readerOf, type Stage } from './stage.js';

const ROWS_PER_SECOND = 1_000;
const KEYS = 500;
/** A twentieth of the backlogs' rows: ten seconds by default. */
const SHARE_OF_ROWS = 20;
/** The first fifth is read and checked, but not counted: programs start slowly, pipelines do not start often. */
const WARM_UP = 0.2;
const GOALS = { p50: { rule: '<', bound: 2 }, p99: { rule: '<', bound: 10 } } as const;

const READERS = ['bare library', "visibility 'committed'", "visibility 'logged'"] as const;
type ReaderName = (typeof READERS)[number];
const JUDGED: ReaderName = "visibility 'committed'";

/** One round of one reader, in milliseconds per row. */
interface Round {
  /** From right before COMMIT was sent: nothing that belongs to the way is left out, and the commit's own work is in it. */
  readonly fromSent: Float64Array;
  /** From right after its answer had come: below zero for a row that was faster than the answer. */
  readonly fromReturned: Float64Array;
  readonly rowsPerSecond: number;
  readonly questions: number | null;
}

/** How long after its commit a row reaches the handler, under a steady load. */
export async function latency(stage: Stage): Promise<Findings> {
  const rows = Math.ceil(stage.rows / SHARE_OF_ROWS);
  const results = new Map<ReaderName, Round[]>(READERS.map((name) => [name, []]));
  for (let round = 0; round < stage.rounds; round += 1) {
    for (const [turn, name] of READERS.entries()) {
      stage.progress(`latency, round ${String(round + 1)}: ${name}`);
      results.get(name)?.push(await measure(stage, name, rows, `latency_${String(round)}_${String(turn)}`));
    }
  }
  return {
    benchmark: 'latency',
    about: `${stage.database.label}, commit to handler at ${ROWS_PER_SECOND.toLocaleString('en-US')} rows/s, one row per transaction, ${rows.toLocaleString('en-US')} rows a round; offsets: ${stage.offsets.kind}`,
    figures: [...results].flatMap(([name, rounds]) => [
      ...figures(name, rounds, name === JUDGED),
      ...comparison(rounds, results.get('bare library') ?? []),
    ]),
  };
}

async function measure(stage: Stage, name: ReaderName, rows: number, database: string): Promise<Round> {
  const options = { name: database, rows: 0, perTransaction: 1, keys: KEYS, payload: 'text' } as const;
  await using backlog = await stage.database.createBacklog(options);
  return await backlog.withReader(async (readerName) => {
    const settings = { ...readerOf(stage, backlog, readerName), rows, arrivals: true };
    const reader = startReader(stage, name, settings);
    await reader.ready;
    const { url } = backlog;
    const database = stage.database.name;
    const writer = startJob('writer', { database, url, rows, keys: KEYS, rowsPerSecond: ROWS_PER_SECOND });
    const [writing, reading] = await Promise.all([writer.result, reader.result]);
    check(`latency, ${name}`, reading, await backlog.count());
    return roundOf(writing, reading);
  });
}

function startReader(
  { offsets }: Stage,
  name: ReaderName,
  settings: Parameters<typeof startJob<'bare'>>[1],
): { readonly ready: Promise<void>; readonly result: Promise<Reading | StrandlineReading> } {
  if (name === 'bare library') return startJob('bare', settings);
  const visibility = name === "visibility 'logged'" ? 'logged' : 'committed';
  return startJob('strandline', { ...settings, offsets, visibility, handler: 'async' });
}

function roundOf({ sent, returned }: Writing, reading: Reading | StrandlineReading): Round {
  const { arrivals } = reading;
  const first = Math.floor(arrivals.length * WARM_UP);
  const since = (moments: Float64Array): Float64Array =>
    arrivals.slice(first).map((arrival, index) => arrival - (moments[first + index] ?? NaN));
  const seconds = ((sent.at(-1) ?? NaN) - (sent[first] ?? NaN)) / 1_000;
  return {
    fromSent: since(sent),
    fromReturned: since(returned),
    rowsPerSecond: (arrivals.length - first) / seconds,
    questions: 'questions' in reading ? reading.questions : null,
  };
}

const p50 = (round: Round): number => percentile(round.fromSent, 0.5);
const p99 = (round: Round): number => percentile(round.fromSent, 0.99);

/** What the bare library needs is the machine's share, and on a busy machine that is most of it. */
function comparison(rounds: readonly Round[], bare: readonly Round[]): Figure[] {
  if (rounds === bare) return [];
  const times = (label: string, of: (round: Round) => number): Figure => ({
    name: `  ${label}, times that of the bare library`,
    unit: 'ratio',
    rounds: ratios(rounds.map(of), bare.map(of)),
  });
  return [times('p50 from COMMIT sent', p50), times('p99 from COMMIT sent', p99)];
}

function figures(name: ReaderName, rounds: readonly Round[], judged: boolean): Figure[] {
  const ms = (label: string, of: (round: Round) => number, goal?: Goal): Figure => ({
    name: `  ${label}`,
    unit: 'ms',
    rounds: rounds.map(of),
    ...(goal === undefined || !judged ? {} : { goal }),
  });
  const questions = rounds.flatMap((round) => (round.questions === null ? [] : [round.questions]));
  return [
    { name: `${name}: written`, unit: 'rows/s', rounds: rounds.map((round) => round.rowsPerSecond) },
    ms('p50 from COMMIT sent', p50, GOALS.p50),
    ms('p99 from COMMIT sent', p99, GOALS.p99),
    ms('p50 from COMMIT returned', (round) => percentile(round.fromReturned, 0.5)),
    ms('p99 from COMMIT returned', (round) => percentile(round.fromReturned, 0.99)),
    ...(questions.length === 0
      ? []
      : [{ name: '  questions of the gate', unit: 'count', rounds: questions } as const]),
  ];
}
