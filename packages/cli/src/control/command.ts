import type { ControlDesk, Pipeline } from '@strandline/pipeline';
import type { Command } from 'commander';
import { atPipeline } from '../at-pipeline.js';
import { cliError } from '../errors.js';
import { logFrom } from '../log.js';
import { withJson, withPipeline, type PipelineOptions } from '../options.js';
import type { Streams } from '../streams.js';
import { hold, list, pause, release, resume, type AtControl, type OrderingOptions } from './answers.js';

const HELP = `
It is kept in the offset store, works from any machine that reaches it, and holds until it is taken back, whatever
restarts or takes over. The owner hears of it within two seconds; a handler that runs is let end.

Exit codes:
  0    done, or so already
  1    failed, or not held: see the message
  2    wrong arguments, or a wrong config
`;

/** Adds `pause`, `resume`, and `keys` with the commands below it. */
export function addControl(program: Command, streams: Streams, ended: (exitCode: number) => void): void {
  const run = async (options: PipelineOptions, command: (at: AtControl) => Promise<void>): Promise<void> => {
    logFrom('warn');
    ended(
      await atPipeline(options, streams, controlOf, (desk, { name }) =>
        command({ pipeline: name, desk, streams }),
      ),
    );
  };

  withOrder(withJson(withPipeline(program.command('pause'))))
    .description('let no handler of a pipeline start')
    .addHelpText('after', HELP)
    .action((options: OrderingOptions) => run(options, (at) => pause(at, options)));

  withJson(withPipeline(program.command('resume')))
    .description('end the pause of a pipeline')
    .addHelpText('after', HELP)
    .action((options: PipelineOptions) => run(options, (at) => resume(at, options)));

  const keys = program
    .command('keys')
    .description('hold single keys, while others go on')
    .addHelpText('after', HELP);

  withOrder(withJson(withPipeline(keys.command('hold'))))
    .description('let no handler of a key start: its events wait in order')
    .argument('<key>', 'as events have it')
    .action((key: string, options: OrderingOptions) => run(options, (at) => hold(at, key, options)));

  withJson(withPipeline(keys.command('release')))
    .description('let a held key go on where it stands')
    .argument('<key>', 'as events have it')
    .action((key: string, options: PipelineOptions) => run(options, (at) => release(at, key, options)));

  withJson(withPipeline(keys.command('list')))
    .description('list the held keys: by whom, since when, and why')
    .action((options: PipelineOptions) => run(options, (at) => list(at, options)));
}

function withOrder(command: Command): Command {
  return command
    .option('--note <text>', 'why, for whoever sees it')
    .option('--by <name>', 'who you are (default: user@machine)');
}

/** Throws `CLI_PIPELINE` for a pipeline of an older copy of the packages, which a config may bring. */
function controlOf(pipeline: Pipeline): ControlDesk {
  const { control } = pipeline as Partial<Pipeline>;
  if (control !== undefined) return control;
  throw cliError(
    'CLI_PIPELINE',
    `The pipeline ${pipeline.name} is of an older release, whose keys can't be held.`,
    'Update the package strandline that the config imports.',
  );
}
