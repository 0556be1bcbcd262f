import { parseArgs } from 'node:util';
import { DATABASES, type DatabaseName } from './names.js';

export interface ChaosArguments {
  readonly minutes: number;
  /** Null: one is drawn. */
  readonly seed: number | null;
  readonly databases: readonly DatabaseName[];
  /** Plays what has failed once, and nothing else. */
  readonly failed: boolean;
  readonly json: boolean;
  readonly help: boolean;
}

/** Thrown for arguments that make no sense; its message is all that the person needs to see. */
export class UsageError extends Error {}

export const USAGE = `npm run chaos -- [options]

  --minutes M      how long there is load and faults, for each database; 0.2 to 10,000 (default 3)
  --seed S         a whole number; by default a new one is drawn, and printed
  --database NAME  one of ${DATABASES.join(', ')}, or all, one after the other (default)
  --failed         play the seeds that have failed once (src/seeds.ts) instead
  --json           print one line of JSON at the end instead of a table
  --help           print this

The exit code is 1 when something was lost, out of order or stopped for no reason; what is printed then has the
command that repeats it.
`;

export function parseArguments(args: readonly string[]): ChaosArguments {
  const { minutes, seed, database, failed, json, help } = parse(args);
  return {
    minutes: number('minutes', minutes, 0.2, 10_000),
    seed: seed === undefined ? null : wholeNumber('seed', seed),
    databases: database === 'all' ? DATABASES : [databaseNamed(database)],
    failed,
    json,
    help,
  };
}

/** What repeats a run. */
export function commandOf(minutes: number, seed: number, database: DatabaseName): string {
  return `npm run chaos -- --minutes ${String(minutes)} --seed ${String(seed)} --database ${database}`;
}

function databaseNamed(name: string): DatabaseName {
  const found = DATABASES.find((each) => each === name);
  if (found !== undefined) return found;
  throw new UsageError(`--database is ${name}; it must be one of ${DATABASES.join(', ')}, or all.`);
}

function wholeNumber(name: string, text: string): number {
  const value = number(name, text, 0, 2 ** 31 - 1);
  if (Number.isInteger(value)) return value;
  throw new UsageError(`--${name} is ${text}; it must be a whole number.`);
}

function number(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= least && value <= most) return value;
  throw new UsageError(`--${name} is ${text}; it must be a number from ${String(least)} to ${String(most)}.`);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        minutes: { type: 'string', default: '3' },
        seed: { type: 'string' },
        database: { type: 'string', default: 'all' },
        failed: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false, short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
