import type { DatabaseName } from './databases/names.js';
import type { Goal, Unit } from './report/figure.js';

interface GoalEntry {
  /** The benchmark that measures it. */
  readonly benchmark: string;
  /** For the table of goals: no two are alike. */
  readonly what: string;
  readonly unit: Unit;
  readonly rule: Goal['rule'];
  /** Where nothing is asked of a database it is left out. */
  readonly bound: Readonly<Partial<Record<DatabaseName, number>>>;
}

const everywhere = (bound: number): Readonly<Record<DatabaseName, number>> => ({
  postgres: bound,
  mysql: bound,
  mariadb: bound,
});

/**
 * What Strandline is to reach, measured beside the others in the same run on a machine of two cores. Each is judged by
 * the median of its rounds.
 */
export const GOALS = {
  tensOfServer: {
    benchmark: 'drain',
    what: '10 rows a transaction, of pg_recvlogical',
    unit: 'ratio',
    rule: '>=',
    bound: { postgres: 0.9 },
  },
  tensOfBare: {
    benchmark: 'drain',
    what: '10 rows a transaction, of the bare library',
    unit: 'ratio',
    rule: '>=',
    bound: { postgres: 0.75, mysql: 0.8, mariadb: 0.75 },
  },
  onesOfBare: {
    benchmark: 'drain',
    what: '1 row a transaction, of the bare library',
    unit: 'ratio',
    rule: '>=',
    bound: { mysql: 0.85 },
  },
  manyKeys: {
    benchmark: 'keys',
    what: '1,000,000 keys, of the rate with 5,000',
    unit: 'ratio',
    rule: '>=',
    bound: everywhere(0.8),
  },
  concurrency: {
    benchmark: 'handlers',
    // Concurrency / latency, with the latency that a timer of 10 ms has in a process that does nothing else.
    what: '10 ms handlers, 5,000 keys, concurrency 512, of the same waits alone',
    unit: 'ratio',
    rule: '>=',
    bound: everywhere(0.9),
  },
  latencyMiddle: {
    benchmark: 'latency',
    what: 'commit to handler at 500 rows/s, p50',
    unit: 'ms',
    rule: '<=',
    bound: everywhere(1.5),
  },
  latencyTail: {
    benchmark: 'latency',
    what: 'commit to handler at 500 rows/s, p99',
    unit: 'ms',
    rule: '<=',
    bound: everywhere(5),
  },
  stuckKey: {
    benchmark: 'isolation',
    what: 'one stuck key, the others of their rate',
    unit: 'ratio',
    rule: '>=',
    bound: everywhere(0.97),
  },
  keysInBackoff: {
    benchmark: 'isolation',
    what: '1,000 keys in backoff, the others of their rate',
    unit: 'ratio',
    rule: '>=',
    bound: everywhere(0.97),
  },
  parkedKeys: {
    benchmark: 'isolation',
    what: '10 keys parked, the others of their rate',
    unit: 'ratio',
    rule: '>=',
    bound: everywhere(0.95),
  },
  observedByMetrics: {
    benchmark: 'observed',
    what: '10 rows a transaction, metrics on, of the speed with no listener',
    unit: 'ratio',
    rule: '>=',
    bound: { postgres: 0.98 },
  },
  observedByTraces: {
    benchmark: 'observed',
    what: '10 rows a transaction, traces of 1 %, of the speed with no listener',
    unit: 'ratio',
    rule: '>=',
    bound: { postgres: 0.95 },
  },
  flatMemory: {
    benchmark: 'memory',
    what: 'memory over a long backlog, above where it was after a tenth',
    unit: 'MiB',
    rule: '<',
    bound: everywhere(50),
  },
  largeTransaction: {
    benchmark: 'memory',
    what: 'memory of one large transaction, peak',
    unit: 'MiB',
    rule: '<=',
    bound: everywhere(300),
  },
  idleHeap: {
    benchmark: 'memory',
    // What is compiled and loaded on the way stays: some MiB.
    what: 'heap when idle after many live keys, above where it began',
    unit: 'MiB',
    rule: '<',
    bound: everywhere(20),
  },
  releasedMemory: {
    benchmark: 'release',
    what: 'memory of a released key with four times the followers, above that',
    unit: 'MiB',
    rule: '<',
    bound: everywhere(50),
  },
  recovery: {
    benchmark: 'recovery',
    what: 'SIGKILL to the first new event handled',
    unit: 'ms',
    rule: '<=',
    bound: everywhere(1_500),
  },
  duplicates: {
    benchmark: 'recovery',
    what: 'duplicates after SIGKILL at full rate, of those in flight or settled within 100 ms',
    unit: 'ratio',
    rule: '<=',
    bound: everywhere(1),
  },
} as const satisfies Record<string, GoalEntry>;

export type GoalName = keyof typeof GOALS;

/** The goal as it is for one database; undefined where it has none. */
export function goalOf(name: GoalName, database: DatabaseName): Required<Goal> | undefined {
  const { what, rule, bound }: GoalEntry = GOALS[name];
  const own = bound[database];
  return own === undefined ? undefined : { what, rule, bound: own };
}
