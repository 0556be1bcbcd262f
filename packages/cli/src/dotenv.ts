import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { CommanderError } from 'commander';
import { cliError } from './errors.js';
import { exitCodes } from './exit-codes.js';
import { describeError } from './print-error.js';
import type { Streams } from './streams.js';

/**
 * Sets what a file of `NAME=value` lines says and the environment does not. Not called --env-file: Node 20 takes that for itself,
 * wherever it stands, and ends with 9 when there is no such file.
 *
 * @param file as it was typed
 */
export function readDotenv(file: string | undefined, { stderr }: Pick<Streams, 'stderr'>): void {
  if (file === undefined) return;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const error = cliError('CLI_FILE', `${file} can not be read.`, 'Correct the path after --dotenv.', {
      cause,
    });
    stderr.write(describeError(error, { verbose: false }));
    throw new CommanderError(exitCodes.usage, 'strandline.dotenv', error.message);
  }
  for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value;
}
