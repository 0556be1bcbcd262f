import { Option, type Command } from 'commander';
import { exitCodes } from '../exit-codes.js';
import type { Streams } from '../streams.js';
import { atDesk, type Desk } from './at-desk.js';
import { isConfirmable } from '../confirm.js';
import { discard } from './discard.js';
import { exportLetters, type ExportOptions } from './export.js';
import { list, type ListOptions } from './list.js';
import { withPipeline, withJson, withYes, type PipelineOptions } from '../options.js';
import { parseLimit, withFilter, withState } from './options.js';
import { isEverything, retry, type RetryOptions } from './retry.js';
import { show } from './show.js';
import { skip, type KeyOptions } from './skip.js';

const HELP = `
They work from anywhere that reaches the table, whether the pipeline runs or not, and do not start it. A pipeline that
runs works off what is released within parking.poll (1 s by default), without a restart.

Payloads are in the answers of show and export, and in no other.

Exit codes:
  0    done
  1    failed, not found, or not confirmed: see the message
  2    wrong arguments, or a wrong config
`;

/** Adds `dead-letters` and the commands below it. */
export function addDeadLetters(program: Command, streams: Streams, ended: (exitCode: number) => void): void {
  const group = program
    .command('dead-letters')
    .description('look at what could not be handled, and decide what becomes of it')
    .addHelpText('after', HELP);
  const run = async (options: PipelineOptions, command: (desk: Desk) => Promise<void>): Promise<void> => {
    ended(await atDesk(options, streams, command));
  };
  const confirmed = async (
    what: string | null,
    options: PipelineOptions & { readonly yes?: true },
    command: (desk: Desk) => Promise<void>,
  ): Promise<void> => {
    if (what === null || isConfirmable(what, options.yes, streams)) await run(options, command);
    else ended(exitCodes.usage);
  };

  withState(withFilter(withJson(withPipeline(group.command('list')))))
    .description('list letters, without their payloads')
    .addOption(new Option('--limit <count>', 'so many at most').argParser(parseLimit).default(50))
    .option('--after <number>', 'the ones after this letter')
    .action((options: ListOptions) => run(options, (desk) => list(desk, options)));

  withJson(withPipeline(group.command('show')))
    .description('show one letter in full, with payload and stack')
    .argument('<number>', 'its number, as list tells it')
    .action((id: string, options: PipelineOptions) => run(options, (desk) => show(desk, id, options)));

  withYes(withFilter(withJson(withPipeline(group.command('retry')))))
    .description('release the keys of the letters that fit: their letters run in order, then live events')
    .addOption(
      new Option('--state <state>', 'only what waits, or was skipped').choices(['waiting', 'skipped']),
    )
    .action((options: RetryOptions) =>
      confirmed(isEverything(options) ? 'To retry everything' : null, options, (desk) =>
        retry(desk, options),
      ),
    );

  withYes(withJson(withPipeline(group.command('skip'))))
    .description('leave out the head of a key, and release the key')
    .requiredOption('-k, --key <key>', 'the key')
    .action((options: KeyOptions) => confirmed('To skip', options, (desk) => skip(desk, options)));

  withYes(withJson(withPipeline(group.command('discard'))))
    .description('give up all letters of a key that wait or were skipped')
    .requiredOption('-k, --key <key>', 'the key')
    .action((options: KeyOptions) => confirmed('To discard', options, (desk) => discard(desk, options)));

  withState(withFilter(withPipeline(group.command('export'))))
    .description('write letters in full as JSON lines, key by key, each in its order')
    .addOption(new Option('--limit <count>', 'so many at most').argParser(parseLimit))
    .option('--json', 'accepted: it is always JSON')
    .action((options: ExportOptions) => run(options, (desk) => exportLetters(desk, options)));
}
