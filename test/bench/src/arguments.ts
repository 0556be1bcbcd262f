import { parseArgs } from 'node:util';
import { DATABASES, type DatabaseName } from './databases/names.js';

export const BENCHMARKS = [
  'drain',
  'latency',
  'memory',
  'isolation',
  'failures',
  'release',
  'peers',
  'promises',
] as const;
export type BenchmarkName = (typeof BENCHMARKS)[number];

const OFFSETS = ['redis', 'file', 'memory'] as const;
export type OffsetsKind = (typeof OFFSETS)[number];

export interface BenchArguments {
  readonly database: DatabaseName;
  /** Rows of a backlog; the other benchmarks' amounts are derived from it. */
  readonly rows: number;
  readonly rounds: number;
  readonly only: readonly BenchmarkName[];
  readonly offsets: OffsetsKind;
  readonly json: boolean;
  readonly help: boolean;
}

/** Thrown for arguments that make no sense; its message is all that the person needs to see. */
export class UsageError extends Error {}

export const USAGE = `npm run bench -- [options]

  --database NAME one of ${DATABASES.join(', ')} (default postgres)
  --rows N        rows of a backlog, 1000 to 10,000,000 (default 200,000); the other amounts follow from it
  --rounds N      rounds, of which the median counts, 1 to 99 (default 5)
  --only NAME     one of ${BENCHMARKS.join(', ')}; may be given several times (default: all)
  --offsets KIND  where Strandline keeps its offset: ${OFFSETS.join(', ')} (default redis)
  --json          print one line of JSON at the end instead of tables
  --help          print this

A quick look: --rows 20000 --rounds 1. The goals are meant for the defaults.
The exit code is 1 when an event was missed, repeated or out of its key's order: then there is no figure. A goal
that was not met does not change it: machines differ.
`;

export function parseArguments(args: readonly string[]): BenchArguments {
  const { values } = parse(args);
  return {
    database: oneOf('database', values.database, DATABASES),
    rows: integer('rows', values.rows, 1_000, 10_000_000),
    rounds: integer('rounds', values.rounds, 1, 99),
    only: values.only === undefined ? BENCHMARKS : values.only.map((name) => oneOf('only', name, BENCHMARKS)),
    offsets: oneOf('offsets', values.offsets, OFFSETS),
    json: values.json,
    help: values.help,
  };
}

function integer(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new UsageError(
    `--${name} is ${text}; it must be a whole number from ${String(least)} to ${String(most)}.`,
  );
}

function oneOf<T extends string>(name: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((value) => value === text);
  if (found !== undefined) return found;
  throw new UsageError(`--${name} is ${text}; it must be one of ${allowed.join(', ')}.`);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        database: { type: 'string', default: 'postgres' },
        rows: { type: 'string', default: '200000' },
        rounds: { type: 'string', default: '5' },
        only: { type: 'string', multiple: true },
        offsets: { type: 'string', default: 'redis' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false, short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
