import { Option, type Command } from 'commander';
import type { Start } from '@strandline/setup';

/** The flags of `init`, as commander hands them over. */
export interface InitOptions {
  readonly url?: string;
  readonly table?: string;
  readonly createTable?: true;
  readonly id?: string;
  readonly key?: readonly string[];
  readonly type?: string;
  readonly payload?: string;
  readonly headers?: string;
  readonly name?: string;
  readonly redis?: string;
  readonly offsetsDirectory?: string;
  readonly webhook?: string;
  readonly deadLetters: boolean;
  readonly start: Start;
  readonly role: string;
  readonly out: string;
  readonly force?: true;
  readonly variables?: string;
  readonly apply?: true;
  readonly dryRun?: true;
  readonly json?: true;
  readonly verbose?: true;
}

/** Where a password that was made goes when no file is named: not the application's own `.env`, which has a user of its own. */
export const DEFAULT_ENV_FILE = '.env.strandline';
export const DEFAULT_ROLE = 'strandline';
export const DEFAULT_OFFSETS = './offsets';

export function withInitOptions(command: Command): Command {
  const several = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];
  return command
    .option('--url <url>', 'the database, as a user that may look around; default: DATABASE_URL')
    .addOption(new Option('--table <name>', 'the outbox: table, or schema.table').conflicts('createTable'))
    .option('--create-table', 'there is no outbox yet: the statement that makes strandline_outbox')
    .option('--id <column>', 'what tells one event from the other')
    .option('--key <column>', 'what is in order; again for a key of several columns', several)
    .option('--type <column>', 'the kind of event')
    .option('--payload <column>', 'what the event says')
    .option('--headers <column>', 'a column with a JSON object')
    .option('--name <pipeline>', "the pipeline; default: from the database's and the table's name")
    .addOption(new Option('--redis <url>', 'save offsets in Redis').conflicts('offsetsDirectory'))
    .option('--offsets-directory <dir>', `save offsets in files (default: ${DEFAULT_OFFSETS})`)
    .option('--webhook <url>', 'deliver to this URL; by default the config has a handler to fill in')
    .option('--no-dead-letters', 'no tables for what can not be handled')
    .addOption(
      new Option('--start <where>', 'where the first start begins')
        .choices(['now', 'snapshot', 'earliest'])
        .default('now'),
    )
    .option('--role <name>', 'the user that the pipeline logs in as', DEFAULT_ROLE)
    .option('--out <file>', 'the config to write', 'strandline.config.ts')
    .option('--force', 'overwrite a config that is there')
    .option(
      '--variables <file>',
      `write the variables there, with mode 0600 (default: ${DEFAULT_ENV_FILE}, when a password is made)`,
    )
    .option('--apply', 'run the statements that this user may run; never restarts a server')
    .addOption(new Option('--dry-run', 'write nothing, run nothing').conflicts('apply'))
    .option('--json', 'answer in JSON, and ask nothing')
    .option('--verbose', 'errors come with their stacks');
}
