import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addBookmark } from './bookmarks/command.js';
import { addControl } from './control/command.js';
import { addDeadLetters } from './dead-letters/command.js';
import { addDoctor } from './doctor/command.js';
import { readDotenv } from './dotenv.js';
import { exitCodes, exitCodesHelp } from './exit-codes.js';
import { addHealth } from './health/command.js';
import { addInit } from './init/command.js';
import { addOffsets } from './offsets/command.js';
import { addPrune } from './prune/command.js';
import { addStatus } from './status/command.js';
import { addReplay } from './replay/command.js';
import { addRun } from './run/command.js';
import type { Streams } from './streams.js';
import { addTail } from './tail/command.js';

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
    .option(
      '--dotenv <file>',
      'set what the environment does not set to what a file of NAME=value lines says',
    )
    .hook('preAction', (_, action) => {
      readDotenv(action.optsWithGlobals<{ dotenv?: string }>().dotenv, streams);
    })
    .addHelpText('after', exitCodesHelp);

  addInit(program, streams, ended);
  addRun(program, ended);
  addHealth(program, streams, ended);
  addStatus(program, streams, ended);
  addDoctor(program, streams, ended);
  addControl(program, streams, ended);
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
