import { Option, type Command } from 'commander';
import { atPipeline } from '../at-pipeline.js';
import { parseLimit } from '../dead-letters/options.js';
import { endAtCrash } from '../crashes.js';
import { logFrom } from '../log.js';
import { withJson, withPipeline } from '../options.js';
import { parsePlace, PLACES } from '../place.js';
import { replayable } from '../replayable.js';
import { untilStopped } from '../signals.js';
import type { Streams } from '../streams.js';
import { tail, type TailCommandOptions } from './tail.js';

const HELP = `
Commit time, key, type, id and position, a line each; with --payload the payload, too. It touches nothing: no offset is
read or saved, and no handler is called. Ctrl-C ends it.
${PLACES}
Exit codes:
  0    ended by Ctrl-C, by --limit, or by the end of whoever reads it
  1    failed: see the message
  2    wrong arguments, or a wrong config
`;

/** Adds `tail`. */
export function addTail(program: Command, streams: Streams, ended: (exitCode: number) => void): void {
  withJson(withPipeline(program.command('tail')))
    .description('show outbox rows as they commit, in commit order')
    .addOption(new Option('--from <place>', 'what lies after this (default: now)').argParser(parsePlace))
    .option('-k, --key <key>', 'of this key')
    .option('--type <type>', 'of this event type')
    .option('--payload', 'with the payloads')
    .addOption(new Option('--limit <count>', 'so many at most').argParser(parseLimit))
    .addHelpText('after', HELP)
    .action(async (options: TailCommandOptions) => {
      logFrom('warn');
      endAtCrash();
      ended(
        await atPipeline(options, streams, replayable, (pipeline) =>
          tail(pipeline, options, streams, untilStopped()),
        ),
      );
    });
}
