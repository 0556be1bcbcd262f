import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { addBookmark } from './bookmarks/command.js';
import { run } from './commands/run.js';
import { addDeadLetters } from './dead-letters/command.js';
import { addDoctor } from './doctor/command.js';
import { exitCodes } from './exit-codes.js';
import { configNames } from './find-config.js';
import { defaultLevel, parseLevel, type LogLevel } from './log.js';
import { addOffsets } from './offsets/command.js';
import { addPrune } from './prune/command.js';
import { addStatus } from './status/command.js';
import { addReplay } from './replay/command.js';
import type { Streams } from './streams.js';
import { addTail } from './tail/command.js';

const EXIT_CODES = `
Exit codes:
  0    every pipeline stopped cleanly
  1    a pipeline could not start, or had to stop: see the message
  2    wrong arguments, or a wrong config: a restart does not help
  130  ended at once by a second Ctrl-C while draining; 143 by a second SIGTERM
`;

const RUN_HELP = `
The config is looked for in this order:
  ${configNames.join('\n  ')}
Its default export is what definePipeline({ … }) returns, or a list of such pipelines.

Ctrl-C or SIGTERM stops reading, lets what is in flight end, saves the offsets and exits; a second one exits at
once. Logs are JSON lines on stderr; nothing is written to stdout.
${EXIT_CODES}`;

/** Runs the command with the arguments after its name; resolves with the exit code. */
export async function main(args: readonly string[], streams: Streams = process): Promise<number> {
  let exitCode: number = exitCodes.stopped;
  const program = createProgram(streams, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.stopped : exitCodes.usage;
  }
}

function createProgram(streams: Streams, ended: (exitCode: number) => void): Command {
  const { stdout, stderr } = streams;
  const program = new Command('strandline')
    .description("Runs an application's outbox in order: one event at a time per key, keys in parallel.")
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this')
    .helpCommand('help [command]', 'print the help of a command')
    // These hold for the commands below, too.
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
    })
    .showHelpAfterError('(strandline --help prints the usage)')
    .addHelpText('after', EXIT_CODES);

  program
    .command('run')
    .description('run the pipelines of a config until SIGTERM or Ctrl-C')
    .option('-c, --config <file>', `the config (default: ${configNames[0]} or another, see below)`)
    .addOption(
      new Option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
        .env('LOG_LEVEL')
        .argParser(parseLevel)
        .default(defaultLevel),
    )
    .option('--verbose', 'the same as --log-level debug; errors come with their stacks')
    .addHelpText('after', RUN_HELP)
    .action(async (options: { config?: string; logLevel: LogLevel; verbose?: true }) => {
      ended(
        await run({
          config: options.config,
          level: options.verbose === true ? 'debug' : options.logLevel,
        }),
      );
    });
  addStatus(program, streams, ended);
  addDoctor(program, streams, ended);
  addDeadLetters(program, streams, ended);
  addOffsets(program, streams, ended);
  addBookmark(program, streams, ended);
  addReplay(program, streams, ended);
  addTail(program, streams, ended);
  addPrune(program, streams, ended);
  return program;
}

function version(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
