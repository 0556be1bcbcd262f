import { Option, type Command } from 'commander';
import { atPipelines } from '../at-pipelines.js';
import { parseDuration } from '../duration.js';
import { exitCodes } from '../exit-codes.js';
import { logFrom } from '../log.js';
import { withJson, withPipeline } from '../options.js';
import { untilStopped } from '../signals.js';
import type { Streams } from '../streams.js';
import type { PruneCommandOptions } from './options.js';
import { prune } from './prune.js';

const HELP = `
Deletes rows of the outbox that are older than --keep and that every pipeline on it has settled, in short transactions,
and drops partitions as a whole. Which pipelines there are, the offset store knows; they need not run here. It goes on, a
round a minute, until SIGTERM or Ctrl-C; with --once it works off what is there and ends.

The rest is as in the pipeline's prune: { … }, of which --keep takes the place of keep. Where a running pipeline prunes
the outbox already, there is nothing to do here.

Exit codes:
  0    nothing that is old is left, or it was told to stop
  1    failed, or something holds rows back, or another pruner is at work: see the lines
  2    wrong arguments, or a wrong config
`;

/** Adds `prune`. */
export function addPrune(program: Command, streams: Streams, ended: (exitCode: number) => void): void {
  withJson(withPipeline(program.command('prune')))
    .description('delete rows that every pipeline has settled')
    .addOption(
      new Option('--keep <duration>', 'rows younger than this stay: 12h, 7d').argParser(parseDuration),
    )
    .option('--dry-run', 'delete nothing, and tell how much would go')
    .option('--once', 'one round, instead of one a minute')
    .addHelpText('after', HELP)
    .action(async (options: PruneCommandOptions) => {
      logFrom('warn');
      const stop = untilStopped();
      ended(
        await atPipelines(options, streams, async (pipelines) => {
          const done = await prune(pipelines, options, streams, stop);
          return done ? exitCodes.stopped : exitCodes.fault;
        }),
      );
    });
}
