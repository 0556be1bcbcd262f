import type { BookmarkDesk, Pipeline } from '@strandline/pipeline';
import { Option, type Command } from 'commander';
import { atPipeline } from '../at-pipeline.js';
import { isConfirmable } from '../confirm.js';
import { cliError } from '../errors.js';
import { exitCodes } from '../exit-codes.js';
import { logFrom } from '../log.js';
import { withJson, withPipeline, withYes, type PipelineOptions } from '../options.js';
import { parsePlace, PLACES } from '../place.js';
import type { Streams } from '../streams.js';
import {
  create,
  list,
  remove,
  show,
  type AtBookmarks,
  type CreateOptions,
  type DeleteOptions,
} from './answers.js';

const HELP = `
A bookmark names a position of the log, to replay from or up to, or to set the offset to. It keeps nothing of the log.
${PLACES}
Exit codes:
  0    done
  1    failed, not found, or not confirmed: see the message
  2    wrong arguments, or a wrong config
`;

/** Adds `bookmark` and the commands below it. */
export function addBookmark(program: Command, streams: Streams, ended: (exitCode: number) => void): void {
  const group = program
    .command('bookmark')
    .description('name positions of the log')
    .addHelpText('after', HELP);
  const run = async (
    options: PipelineOptions,
    command: (at: AtBookmarks) => Promise<void>,
  ): Promise<void> => {
    logFrom('warn');
    ended(
      await atPipeline(options, streams, bookmarksOf, (desk, { name }) =>
        command({ pipeline: name, desk, streams }),
      ),
    );
  };

  withJson(withPipeline(group.command('create')))
    .description('name a position; one that has the name already stays as it is')
    .argument('<name>', '1 to 100 of letters, digits, dot, dash and underscore')
    .addOption(new Option('--at <place>', 'which (default: now)').argParser(parsePlace))
    .action((name: string, options: CreateOptions) => run(options, (at) => create(at, name, options)));

  withJson(withPipeline(group.command('list')))
    .description('list the bookmarks by name')
    .action((options: PipelineOptions) => run(options, (at) => list(at, options)));

  withJson(withPipeline(group.command('show')))
    .description('show one, with the log that it belongs to')
    .argument('<name>', 'its name')
    .action((name: string, options: PipelineOptions) => run(options, (at) => show(at, name, options)));

  withYes(withJson(withPipeline(group.command('delete'))))
    .description('forget one')
    .argument('<name>', 'its name')
    .action(async (name: string, options: DeleteOptions) => {
      if (isConfirmable('To delete a bookmark', options.yes, streams))
        await run(options, (at) => remove(at, name, options));
      else ended(exitCodes.usage);
    });
}

/** Throws `CLI_PIPELINE` for a pipeline of an older copy of the packages, which a config may bring. */
function bookmarksOf(pipeline: Pipeline): BookmarkDesk {
  const { bookmarks } = pipeline as Partial<Pipeline>;
  if (bookmarks !== undefined) return bookmarks;
  throw cliError(
    'CLI_PIPELINE',
    `The pipeline ${pipeline.name} is of an older release, which has no bookmarks.`,
    'Update the package strandline that the config imports.',
  );
}
