import { parseArgs } from 'node:util';
import type { DatabaseName } from './database/kinds.js';

export interface DemoArguments {
  /** Where the shop is. */
  readonly database: DatabaseName;
  /** How long the writers run. */
  readonly seconds: number;
  /** One line of JSON on stdout instead of the view and the summary. */
  readonly json: boolean;
  /** Stay up after the summary, with the console, until Ctrl-C. */
  readonly keep: boolean;
  readonly help: boolean;
}

/** Thrown for arguments that make no sense; its message is all that the person needs to see. */
export class UsageError extends Error {}

export const USAGE = `npm start -- [options]

  --mysql       run the shop on MySQL instead of Postgres
  --mariadb     run it on MariaDB
  --seconds N   how long the writers run, 4 to 3600 (default 20)
  --json        print one line of JSON at the end instead of the view and the summary
  --keep        stay up afterwards, with the console in the browser, until Ctrl-C
  --help        print this

MySQL and MariaDB come from Debian's packages: apt-get downloads them the first time, into .cache.
REDIS_URL in the environment keeps the offsets in that Redis instead of a file.
The exit code is 0 only when Strandline missed nothing and kept every order's events in order.
`;

/** Two crashes, and some work between and after them, have to fit in. */
const MIN_SECONDS = 4;
const MAX_SECONDS = 3600;

export function parseArguments(args: readonly string[]): DemoArguments {
  const { values } = parse(args);
  const seconds = Number(values.seconds);
  if (!(seconds >= MIN_SECONDS && seconds <= MAX_SECONDS)) {
    throw new UsageError(
      `--seconds is ${values.seconds}; it must be a number from ${String(MIN_SECONDS)} to ${String(MAX_SECONDS)}.`,
    );
  }
  return { database: databaseOf(values), seconds, json: values.json, keep: values.keep, help: values.help };
}

function databaseOf({ mysql, mariadb }: { mysql: boolean; mariadb: boolean }): DatabaseName {
  if (mysql && mariadb)
    throw new UsageError('--mysql and --mariadb are both given; the shop is on one of them.');
  if (mysql) return 'mysql';
  return mariadb ? 'mariadb' : 'postgres';
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        mysql: { type: 'boolean', default: false },
        mariadb: { type: 'boolean', default: false },
        seconds: { type: 'string', default: '20' },
        json: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false, short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
