import { chmodSync, writeFileSync } from 'node:fs';
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

/** Adds to the env file what it lacks, for its owner's eyes alone, and has git leave it out. Throws `CLI_INIT_FILE`. */
export function writeEnvFile(file: string, variables: readonly Variable[]): Written {
  const before = textOf(file);
  const text = withVariables(before, variables);
  if (text === '') return 'same';
  const ignore = path.join(path.dirname(file), '.gitignore');
  const ignored = withIgnored(textOf(ignore), path.basename(file));
  // First, so that there is no moment in which git would take it.
  if (ignored !== null) write(ignore, ignored, 0o666);
  if (text === before) return 'same';
  write(file, text, 0o600);
  chmodSync(file, 0o600);
  return 'written';
}

function write(file: string, text: string, mode: number): void {
  try {
    writeFileSync(file, text, { mode });
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
