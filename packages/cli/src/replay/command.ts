import { Option, type Command } from 'commander';
import { atPipeline } from '../at-pipeline.js';
import { mustBeConfirmable } from '../confirm.js';
import { endAtCrash } from '../crashes.js';
import { exitCodes } from '../exit-codes.js';
import { logFrom } from '../log.js';
import { withJson, withPipeline, withYes } from '../options.js';
import { PLACES } from '../place.js';
import { describeError } from '../print-error.js';
import { replayable } from '../replayable.js';
import { untilStopped } from '../signals.js';
import type { Streams } from '../streams.js';
import { parseFrom, parseTo, type ReplayCommandOptions } from './options.js';
import { replay } from './replay.js';

const HELP = `
Runs beside the pipeline, which may run elsewhere or not at all: in order per key, keys in parallel, under a name and an
offset of its own (<pipeline>-replay, or --as). The pipeline's own offset and dead letters stay as they are. Handlers see
ctx.replay. The first event that fails for good stops it.

Ctrl-C or SIGTERM interrupts it: what is in flight may end, and how far it came is saved. The same command goes on from
there, up to the same end; --restart begins anew.
${PLACES}
Progress is on stderr, the summary on stdout; logs are JSON lines on stderr, from LOG_LEVEL on (default warn).

Exit codes:
  0    done
  1    failed: see the message
  2    wrong arguments, a wrong config, or not confirmed
  3    interrupted: the same command goes on
`;

/** Adds `replay`. */
export function addReplay(program: Command, streams: Streams, ended: (exitCode: number) => void): void {
  withYes(withJson(withPipeline(program.command('replay'))))
    .description('handle a part of the log again, beside the running pipeline')
    .addOption(
      new Option('--from <place>', 'what lies after this').argParser(parseFrom).makeOptionMandatory(),
    )
    .addOption(new Option('--to <place>', 'up to this, inclusive (default: now)').argParser(parseTo))
    .option('-k, --key <key>', 'of this key')
    .option('--type <type>', 'of this event type')
    .option('--handler <name>', "by this one of the pipeline's handlers")
    .option('--as <name>', 'under this name (default: <pipeline>-replay)')
    .option('--restart', 'give up an interrupted replay of this name, and begin anew')
    .option('--dry-run', 'only count what would be handled')
    .addHelpText('after', HELP)
    .action(async (options: ReplayCommandOptions) => {
      ended(await run(options, streams));
    });
}

async function run(options: ReplayCommandOptions, streams: Streams): Promise<number> {
  try {
    if (options.dryRun !== true) mustBeConfirmable('To replay', options.yes, streams);
  } catch (error) {
    streams.stderr.write(describeError(error, { verbose: false }));
    return exitCodes.usage;
  }
  // The news of the pipeline's logger would tear up the line of the progress.
  logFrom('warn');
  endAtCrash();
  // Whoever reads the progress may go away before the end.
  streams.stderr.on?.('error', () => undefined);
  const outcome: { ended?: 'completed' | 'interrupted' } = {};
  const code = await atPipeline(options, streams, replayable, async (pipeline) => {
    outcome.ended = await replay(pipeline, options, streams, untilStopped());
  });
  return outcome.ended === 'interrupted' ? exitCodes.interrupted : code;
}
