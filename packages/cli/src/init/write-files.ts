import { randomUUID } from 'node:crypto';
import { existsSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withIgnored, withVariables, type Variable } from '@strandline/setup';
import { cliError } from '../errors.js';
import { textOf } from './variables.js';

export type Written = 'written' | 'overwritten' | 'same' | 'kept';

/** Writes the config, unless there is one that says something else and `force` is not given. Throws `CLI_INIT_FILE`. */
export function writeConfig(file: string, text: string, force: boolean): Written {
  const before = textOf(file);
  if (before === text) return 'same';
  if (before !== '' && !force) return 'kept';
  write(file, text, 0o666);
  return before === '' ? 'written' : 'overwritten';
}

/**
 * Adds to the env file what it lacks, for its owner's eyes alone, and has git leave it out; where there is no repository,
 * too, since the one that is made there later would take the file. Throws `CLI_INIT_FILE`.
 */
export function writeEnvFile(file: string, variables: readonly Variable[]): Written {
  const before = textOf(file);
  const text = withVariables(before, variables);
  if (text === '') return 'same';
  const ignore = path.join(path.dirname(file), '.gitignore');
  const ignored = withIgnored(textOf(ignore), path.basename(file));
  // First, so that there is no moment in which git would take it.
  if (ignored !== null) write(ignore, ignored, 0o666);
  if (text === before) return 'same';
  replace(file, text);
  return 'written';
}

/** As a whole, so that a crash leaves the old text or the new one; and there is no moment in which others could read it. */
function replace(file: string, text: string): void {
  // A link stays one: what it leads to is replaced.
  const target = existsSync(file) ? realpathSync(file) : file;
  const next = `${target}.${randomUUID()}.tmp`;
  try {
    write(next, text, 0o600, file);
    trying(file, () => {
      renameSync(next, target);
    });
  } finally {
    rmSync(next, { force: true });
  }
}

function write(file: string, text: string, mode: number, shown = file): void {
  trying(shown, () => {
    writeFileSync(file, text, { mode, flush: true });
  });
}

function trying(file: string, work: () => void): void {
  try {
    work();
  } catch (cause) {
    throw cliError(
      'CLI_INIT_FILE',
      `${file} can not be written.`,
      'Let this user write there, or name another place.',
      {
        cause,
      },
    );
  }
}
