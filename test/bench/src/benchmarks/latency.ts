import { goalOf } from '../goals.js';
import { measured, type Figure, type Findings, type Goal } from '../report/figure.js';
import { grouped } from '../report/format.js';
import { ratios } from '../report/statistics.js';
import { liveRound, type LiveReader, type LiveRound } from './live-round.js';
import { highestRate } from './rate-search.js';
import type { Stage } from './stage.js';

/** By default a round lasts four seconds, or two where these are thousands of rows; less for a quick look. */
const SECONDS = 4;
const SECONDS_OF_MANY = 2;
const MANY_PER_SECOND = 2_000;
const ROWS_FOR_ALL_SECONDS = 100_000;
/** Where the search for the highest rate begins. */
const FIRST_RATE = 1_000;
/** A rate holds when nearly all rows are handled within so many milliseconds, … */
const HOLDS_BELOW = 50;
/** … and when the writer kept up with it. */
const WRITTEN = 0.95;

const JUDGED: LiveReader = "visibility 'committed'";

interface SteadyLoad {
  readonly rowsPerSecond: number;
  readonly readers: readonly LiveReader[];
  readonly judged: boolean;
}

const LOADS: readonly SteadyLoad[] = [
  { rowsPerSecond: 500, readers: ['bare library', JUDGED, "visibility 'logged'"], judged: true },
  { rowsPerSecond: 5_000, readers: ['bare library', JUDGED], judged: false },
];

/** How long after its commit a row reaches the handler. */
export async function latency(stage: Stage): Promise<Findings> {
  const figures: Figure[] = [];
  for (const load of LOADS) figures.push(...(await measureLoad(stage, load)));
  figures.push(...(await searchRate(stage)));
  return {
    benchmark: 'latency',
    about: `${stage.database.label}, commit to handler, one row per transaction, written by another process on the same machine; offsets: ${stage.offsets.kind}`,
    figures,
  };
}

async function measureLoad(stage: Stage, { rowsPerSecond, readers, judged }: SteadyLoad): Promise<Figure[]> {
  const results = new Map(readers.map((name) => [name, [] as LiveRound[]]));
  for (let round = 0; round < stage.rounds; round += 1) {
    for (const [turn, name] of readers.entries()) {
      stage.progress(`latency at ${grouped(rowsPerSecond)} rows/s, round ${String(round + 1)}: ${name}`);
      const database = `latency_${String(rowsPerSecond)}_${String(round)}_${String(turn)}`;
      const load = { rowsPerSecond, seconds: secondsOf(stage, rowsPerSecond) };
      results.get(name)?.push(await liveRound(stage, name, load, database));
    }
  }
  const bare = results.get('bare library') ?? [];
  return [...results].flatMap(([name, rounds]) => {
    const goals = judged && name === JUDGED ? goalsOf(stage) : {};
    const title = `${grouped(rowsPerSecond)} rows/s, ${name}`;
    return [...figuresOf(title, rounds, goals), ...(rounds === bare ? [] : comparison(rounds, bare))];
  });
}

/** Doubled and then halved; each rate is tried once, with a pipeline and a database of its own. */
async function searchRate(stage: Stage): Promise<Figure[]> {
  const rounds = new Map<number, LiveRound>();
  const highest = await highestRate(FIRST_RATE, async (rowsPerSecond) => {
    const load = { rowsPerSecond, seconds: secondsOf(stage, rowsPerSecond) };
    const round = await liveRound(stage, JUDGED, load, `latency_search_${String(rowsPerSecond)}`);
    const holds = round.fromSent.p99 < HOLDS_BELOW && round.rowsPerSecond >= WRITTEN * rowsPerSecond;
    stage.progress(
      `latency at ${grouped(rowsPerSecond)} rows/s: p99 ${round.fromSent.p99.toFixed(1)} ms, ${grouped(round.rowsPerSecond)} rows/s written: ${holds ? 'holds' : 'does not hold'}`,
    );
    rounds.set(rowsPerSecond, round);
    return holds;
  });
  const held = rounds.get(highest);
  const name = `the highest rate that holds p99 < ${String(HOLDS_BELOW)} ms`;
  return [
    ...(held === undefined
      ? [{ name: `${name}: none`, unit: 'rows/s', rounds: [0] } as const]
      : figuresOf(name, [held], {})),
    ...limitOf(rounds, highest),
  ];
}

/** What the lowest rate broke on that did not hold: the reader's time, or a writer that could not write so much. */
function limitOf(rounds: ReadonlyMap<number, LiveRound>, held: number): Figure[] {
  const broken = Math.min(...[...rounds.keys()].filter((rate) => !(rate <= held)));
  const round = rounds.get(broken);
  if (round === undefined) return [];
  return [
    { name: `  did not hold: ${grouped(broken)}, written`, unit: 'rows/s', rounds: [round.rowsPerSecond] },
    { name: '  its p99', unit: 'ms', rounds: [round.fromSent.p99] },
  ];
}

function secondsOf({ rows }: Stage, rowsPerSecond: number): number {
  const whole = rowsPerSecond < MANY_PER_SECOND ? SECONDS : SECONDS_OF_MANY;
  return Math.max(1, whole * Math.min(1, rows / ROWS_FOR_ALL_SECONDS));
}

interface Goals {
  readonly p50?: Goal | undefined;
  readonly p99?: Goal | undefined;
}

function goalsOf({ database }: Stage): Goals {
  return { p50: goalOf('latencyMiddle', database.name), p99: goalOf('latencyTail', database.name) };
}

/** What the bare library needs is the machine's share, and on a busy machine that is most of it. */
function comparison(rounds: readonly LiveRound[], bare: readonly LiveRound[]): Figure[] {
  const times = (quantile: 'p50' | 'p99'): Figure => ({
    name: `  ${quantile}, times that of the bare library`,
    unit: 'ratio',
    rounds: ratios(
      rounds.map(({ fromSent }) => fromSent[quantile]),
      bare.map(({ fromSent }) => fromSent[quantile]),
    ),
  });
  return [times('p50'), times('p99')];
}

function figuresOf(title: string, rounds: readonly LiveRound[], goals: Goals): Figure[] {
  const ms = (label: string, of: (round: LiveRound) => number, goal?: Goal): Figure => ({
    name: `  ${label}`,
    unit: 'ms',
    rounds: rounds.map(of),
    goal,
  });
  return measured([
    { name: `${title}: written`, unit: 'rows/s', rounds: rounds.map((round) => round.rowsPerSecond) },
    ms('p50 from COMMIT sent', ({ fromSent }) => fromSent.p50, goals.p50),
    ms('p99', ({ fromSent }) => fromSent.p99, goals.p99),
    ms('p99.9', ({ fromSent }) => fromSent.p999),
    ms('max', ({ fromSent }) => fromSent.max),
    ms('p50 from COMMIT returned', ({ fromReturned }) => fromReturned.p50),
    ms('p99', ({ fromReturned }) => fromReturned.p99),
    { name: '  processor time', unit: 'µs/row', rounds: rounds.map(({ cpu }) => cpu) },
    { name: '  resident set, peak', unit: 'MiB', rounds: rounds.map(({ peakMib }) => peakMib) },
    {
      name: '  questions of the gate',
      unit: 'count',
      rounds: rounds.flatMap(({ questions }) => (questions === null ? [] : [questions])),
    },
  ]);
}
