import type { Command } from 'commander';
import { exitCodes } from '../exit-codes.js';
import { describeError, isStrandlineError } from '../print-error.js';
import type { Streams } from '../streams.js';
import { init } from './init.js';
import { withInitOptions, type InitOptions } from './options.js';

const HELP = `
It looks at the database and its tables, proposes which one is the outbox and what its columns mean, writes the config, and
prints what the server still lacks. On a terminal it asks what it can't tell; elsewhere a flag has to say it. The password
may be in --url, in DATABASE_URL (or DATABASE_URL_FILE), or in PGPASSWORD or MYSQL_PWD; it is in no output and in no config.

Exit codes:
  0    the config is there; with --apply, what this user may run was run
  1    the server can't be reached or refused something, or a file can't be written
  2    wrong arguments, or one is missing: the message names the flag
`;

/** Errors that say: these arguments will not do. */
const USAGE: ReadonlySet<string> = new Set([
  ...['CLI_INIT_MISSING', 'SETUP_URL', 'SETUP_TABLE', 'SETUP_COLUMN', 'SETUP_CHOICE', 'PIPELINE_CONFIG'],
]);

/** Adds `init`. */
export function addInit(program: Command, streams: Streams, ended: (exitCode: number) => void): void {
  withInitOptions(program.command('init'))
    .description('find the outbox of a database, write the config, and tell what the server lacks')
    .addHelpText('after', HELP)
    .action(async (options: InitOptions) => {
      // Every write is awaited, and fails by itself.
      streams.stdout.on?.('error', () => undefined);
      try {
        await init(options, streams);
        ended(exitCodes.stopped);
      } catch (error) {
        streams.stderr.write(describeError(error, { verbose: options.verbose === true }));
        ended(isStrandlineError(error) && USAGE.has(error.code) ? exitCodes.usage : exitCodes.fault);
      }
    });
}
