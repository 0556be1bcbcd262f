import { Random } from '@strandline/test-kit/random';

/** A transaction that commits, with the keys of the rows that it inserts. Without rows it is one of other tables. */
export interface PlannedCommit {
  /** Milliseconds since the start. */
  readonly at: number;
  readonly keys: readonly string[];
}

/** Something that goes wrong, or that an operator does. `member` is one of the crew, by its number. */
export type PlannedFault = { readonly at: number } & (
  | { readonly kind: 'kill'; readonly member: number }
  | { readonly kind: 'stop'; readonly member: number }
  | { readonly kind: 'pause'; readonly member: number; readonly lasts: number }
  | { readonly kind: 'cut'; readonly member: number; readonly lasts: number }
  | { readonly kind: 'skew'; readonly member: number; readonly by: number }
  | { readonly kind: 'offsets away' | 'letters away'; readonly lasts: number }
  | { readonly kind: 'retry' | 'skip' | 'discard'; readonly key: string }
  /** An operator holds a key, or pauses the pipeline, from elsewhere; `hold here`: in that process. Later it is let go. */
  | { readonly kind: 'hold'; readonly key: string; readonly lasts: number }
  | { readonly kind: 'hold here'; readonly member: number; readonly key: string; readonly lasts: number }
  | { readonly kind: 'rest'; readonly lasts: number }
  /** An operator does something to the live head of a key, in that process. */
  | { readonly kind: 'try now' | 'park now' | 'skip now'; readonly member: number; readonly key: string }
);

export type FaultKind = PlannedFault['kind'];

/** How handlers behave: shares of their calls. */
export interface Temper {
  readonly fails: number;
  /** Of those that fail: for good. */
  readonly permanently: number;
  /** Returns or throws without a promise. */
  readonly answersAtOnce: number;
  /** Does not end before the faults are over; some of them heed their signal. */
  readonly hangs: number;
  readonly longest: number;
}

/** A schedule, as plain data: everything that happens in it but the small delays, which come from its seed as well. */
export interface Scenario {
  readonly seed: number;
  readonly keys: readonly string[];
  readonly commits: readonly PlannedCommit[];
  readonly faults: readonly PlannedFault[];
  readonly temper: Temper;
  /** Its handler ends the process, as long as the faults last: the nth row of the log. */
  readonly poison: number | null;
  /** Processes of the pipeline. */
  readonly crew: number;
  /** `slot`: who is cut off is in doubt until it has asked (Postgres). `lock`: it has lost at once (MySQL). */
  readonly ownership: 'slot' | 'lock';
  /** Whether a transaction's end has a position of its own, or is reported as that of its last row. */
  readonly ownEnd: boolean;
  readonly options: ScenarioOptions;
}

/** What the pipeline is told. */
export interface ScenarioOptions {
  readonly concurrency: number;
  readonly batch: number;
  readonly window: number;
  readonly maxPerKey: number;
  readonly overflow: 'pause' | 'park';
  readonly onFailure: 'park' | 'skip' | 'halt';
  readonly hasLetters: boolean;
  readonly schedule: boolean;
  readonly attempts: number;
  readonly initialDelay: number;
  readonly jitter: 'full' | 'none';
  readonly handlerTimeout: number;
  readonly commitInterval: number;
}

/** How much happens in a schedule: most are short, since the more of them are played; some are long. */
interface Size {
  /** Milliseconds in which transactions commit and faults strike. */
  readonly span: number;
  readonly commits: number;
  readonly faults: number;
}

/** Milliseconds for which an operator holds something: also for longer than an owner takes to hear of it. */
const HOLDS = [20, 20, 100, 100, 2_500];

const SHORT: Size = { span: 120, commits: 6, faults: 3 };
const LONG: Size = { span: 240, commits: 12, faults: 9 };

export function drawScenario(seed: number): Scenario {
  const random = new Random(seed);
  const size = random.chance(0.25) ? LONG : SHORT;
  const keys = ['a', 'b', 'c', 'd'].slice(0, random.between(1, 4));
  const crew = random.pick([1, 1, 2]);
  const hasLetters = random.chance(0.6);
  const commits = drawCommits(random, keys, size);
  const rows = commits.reduce((sum, commit) => sum + commit.keys.length, 0);
  return {
    seed,
    keys,
    crew,
    commits,
    ownership: random.pick(['slot', 'lock']),
    ownEnd: random.chance(0.5),
    temper: {
      fails: random.pick([0, 0.1, 0.4]),
      permanently: random.pick([0, 0.1, 0.5]),
      answersAtOnce: random.pick([0, 0.3, 1]),
      hangs: random.pick([0, 0, 0.05]),
      longest: random.pick([2, 20, 60]),
    },
    poison: hasLetters && rows > 0 && random.chance(0.05) ? random.between(0, rows - 1) : null,
    options: drawOptions(random, hasLetters),
    faults: drawFaults(random, keys, crew, hasLetters, size),
  };
}

function drawCommits(
  random: Random,
  keys: readonly string[],
  { span, commits: most }: Size,
): PlannedCommit[] {
  const hot = random.chance(0.3) ? random.pick(keys) : null;
  const backlog = random.chance(0.3);
  const commits = Array.from({ length: random.between(1, most) }, (): PlannedCommit => {
    const rows = random.pick([0, 1, 1, 1, 2, 3]);
    return {
      at: backlog ? 0 : random.between(0, span),
      keys: Array.from({ length: rows }, () =>
        hot !== null && random.chance(0.5) ? hot : random.pick(keys),
      ),
    };
  });
  return commits.sort((a, b) => a.at - b.at);
}

function drawOptions(random: Random, hasLetters: boolean): ScenarioOptions {
  const handlerTimeout = random.chance(0.25) ? random.pick([15, 60]) : Infinity;
  return {
    hasLetters,
    concurrency: random.between(1, 5),
    batch: random.pick([1, 1, 2, 4]),
    window: random.pick([3, 12, 1_000, 1_000]),
    maxPerKey: random.chance(0.3) ? random.between(1, 3) : Infinity,
    overflow: hasLetters && random.chance(0.6) ? 'park' : 'pause',
    onFailure: hasLetters ? random.pick(['park', 'park', 'park', 'skip', 'halt']) : 'halt',
    schedule: random.chance(0.3),
    attempts: random.pick([1, 2, 5, Infinity]),
    initialDelay: random.pick([0, 10]),
    jitter: random.pick(['full', 'none']),
    handlerTimeout,
    commitInterval: random.pick([20, 50, 100]),
  };
}

function drawFaults(
  random: Random,
  keys: readonly string[],
  crew: number,
  hasLetters: boolean,
  { span, faults: most }: Size,
): PlannedFault[] {
  const kinds: FaultKind[] = ['kill', 'kill', 'stop', 'pause', 'cut', 'offsets away', 'skew'];
  kinds.push('hold', 'hold here', 'rest', 'try now');
  if (hasLetters)
    kinds.push('letters away', 'retry', 'retry', 'retry', 'skip', 'discard', 'park now', 'skip now');
  const faults = Array.from({ length: random.between(0, most) }, (): PlannedFault => {
    const kind = random.pick(kinds);
    const at = random.between(0, span);
    const member = random.between(0, crew - 1);
    switch (kind) {
      case 'kill':
      case 'stop':
        return { at, kind, member };
      case 'pause':
        return { at, kind, member, lasts: random.pick([5, 50, 3_000]) };
      case 'cut':
        return { at, kind, member, lasts: random.pick([5, 50, 500]) };
      case 'skew':
        return { at, kind, member, by: random.pick([-3_600_000, -500, 500, 3_600_000]) };
      case 'offsets away':
      case 'letters away':
        return { at, kind, lasts: random.pick([10, 80]) };
      case 'retry':
      case 'skip':
      case 'discard':
        return { at, kind, key: random.pick(keys) };
      case 'hold':
        return { at, kind, key: random.pick(keys), lasts: random.pick(HOLDS) };
      case 'hold here':
        return { at, kind, member, key: random.pick(keys), lasts: random.pick(HOLDS) };
      case 'rest':
        return { at, kind, lasts: random.pick(HOLDS) };
      case 'try now':
      case 'park now':
      case 'skip now':
        return { at, kind, member, key: random.pick(keys) };
    }
  });
  return faults.sort((a, b) => a.at - b.at);
}
