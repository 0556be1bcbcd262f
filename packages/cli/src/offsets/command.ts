import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { atPipeline } from '../at-pipeline.js';
import { isConfirmable } from '../confirm.js';
import { cliError } from '../errors.js';
import { exitCodes } from '../exit-codes.js';
import { logFrom } from '../log.js';
import { withJson, withPipeline, withYes, type PipelineOptions } from '../options.js';
import { parsePlace, PLACES } from '../place.js';
import { written, type Streams } from '../streams.js';
import { offsetOf, type AtOffset, type ChangeOptions } from './at-offset.js';
import { change } from './change.js';
import { show } from './show.js';

const HELP = `
What changes the offset tells what will be delivered again or skipped, asks for a confirmation, and is refused while the
pipeline runs or stands by anywhere. What was there is kept, for undo.

reset makes the pipeline one that never ran: it begins as its source says. What the server keeps for it stays: with a
replication slot in place it goes on from there.
${PLACES}
Exit codes:
  0    done
  1    failed, refused, or not confirmed: see the message
  2    wrong arguments, or a wrong config
`;

/** Adds `offsets` and the commands below it. */
export function addOffsets(program: Command, streams: Streams, ended: (exitCode: number) => void): void {
  const group = program
    .command('offsets')
    .description('look at where a pipeline stands, and move it')
    .addHelpText('after', HELP);
  const run = async (options: PipelineOptions, command: (at: AtOffset) => Promise<void>): Promise<void> => {
    logFrom('warn');
    ended(
      await atPipeline(options, streams, offsetOf, (desk, { name }) =>
        command({ pipeline: name, desk, streams }),
      ),
    );
  };
  const confirmed = async (
    what: string,
    options: ChangeOptions,
    command: (at: AtOffset) => Promise<void>,
  ): Promise<void> => {
    if (isConfirmable(what, options.yes, streams)) await run(options, command);
    else ended(exitCodes.usage);
  };

  withJson(withPipeline(group.command('show')))
    .description('show the offset, how far the log reaches, and what undo would put back')
    .action((options: PipelineOptions) => run(options, (at) => show(at, options)));

  withYes(withJson(withPipeline(group.command('set'))))
    .description('everything up to there counts as handled, and what follows is delivered')
    .argument('<place>', 'a bookmark, a position, a time, earliest or now', parsePlace)
    .action((place: ReturnType<typeof parsePlace>, options: ChangeOptions) =>
      confirmed('To set an offset', options, (at) =>
        change(at, options, (review) => at.desk.set(place, review)),
      ),
    );

  withYes(withJson(withPipeline(group.command('reset'))))
    .description('forget the offset: the pipeline begins like one that never ran')
    .action((options: ChangeOptions) =>
      confirmed('To reset an offset', options, (at) =>
        change(at, options, (review) => at.desk.reset(review)),
      ),
    );

  withYes(withJson(withPipeline(group.command('undo'))))
    .description('put back what the last set, reset, undo or import has replaced')
    .action((options: ChangeOptions) =>
      confirmed('To undo', options, (at) => change(at, options, (review) => at.desk.undo(review))),
    );

  withPipeline(group.command('export'))
    .description('write the offset as JSON, to keep it outside of its store')
    .option('--json', 'accepted: it is always JSON')
    .action((options: PipelineOptions) =>
      run(options, async ({ desk }) => written(streams.stdout, await desk.export())),
    );

  withYes(withJson(withPipeline(group.command('import'))))
    .description('put an exported offset in place')
    .argument('<file>', 'what export has written')
    .action((file: string, options: ChangeOptions) =>
      confirmed('To import an offset', options, async (at) => {
        const text = await textOf(file);
        await change(at, options, (review) => at.desk.import(text, review));
      }),
    );
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw cliError('CLI_FILE', `${file} can't be read (${code}).`, 'Correct the path.', { cause });
  }
}
