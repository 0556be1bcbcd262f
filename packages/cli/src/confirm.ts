import { createInterface } from 'node:readline/promises';
import type { Writable } from 'node:stream';
import { cliError } from './errors.js';
import { describeError } from './print-error.js';
import type { Streams } from './streams.js';

/** Throws `CLI_CONFIRMATION` when nobody can be asked and `--yes` was not given. */
export function mustBeConfirmable(what: string, yes: true | undefined, { stdin }: Streams): void {
  if (yes === true || stdin.isTTY === true) return;
  throw cliError(
    'CLI_CONFIRMATION',
    `${what} needs a confirmation, and there is no terminal to ask on.`,
    'Add --yes when it is what you want.',
  );
}

/** Whether it is confirmed, or somebody can be asked; says what is wrong otherwise. */
export function isConfirmable(what: string, yes: true | undefined, streams: Streams): boolean {
  try {
    mustBeConfirmable(what, yes, streams);
    return true;
  } catch (error) {
    streams.stderr.write(describeError(error, { verbose: false }));
    return false;
  }
}

/** Throws `CLI_CANCELLED` unless the answer is yes. */
export async function confirm(question: string, yes: true | undefined, streams: Streams): Promise<void> {
  if (yes === true || /^y(es)?$/i.test((await ask(`${question} Type yes to go on: `, streams)).trim()))
    return;
  throw cliError('CLI_CANCELLED', 'Nothing was changed: the answer was not yes.', 'Ask again to do it.');
}

/** The line that was typed; nothing when the input ends, or by Ctrl-C. */
async function ask(question: string, { stdin, stderr }: Streams): Promise<string> {
  // The answer of the command is on stdout, for a script that may read it.
  const lines = createInterface({ input: stdin, output: stderr as unknown as Writable });
  try {
    const ended = new Promise<string>((resolve) => {
      lines.once('close', () => {
        resolve('');
      });
    });
    return await Promise.race([lines.question(question), ended]);
  } finally {
    lines.close();
  }
}
