import { statSync } from 'node:fs';
import path from 'node:path';
import { cliError } from './errors.js';

/** Where a config is looked for, in this order, when none is named. */
export const configNames = [
  'strandline.config.ts',
  'strandline.config.mts',
  'strandline.config.js',
  'strandline.config.mjs',
] as const;

/**
 * The absolute path of the config file: the one that is named, that of `STRANDLINE_CONFIG`, or one of the directory.
 * Throws `CLI_CONFIG_MISSING`.
 */
export function findConfig(named: string | undefined, directory: string): string {
  const variable = process.env['STRANDLINE_CONFIG'];
  const given = named ?? (variable === '' ? undefined : variable);
  if (given !== undefined) {
    const file = path.resolve(directory, given);
    if (isFile(file)) return file;
    throw cliError(
      'CLI_CONFIG_MISSING',
      `There is no file ${file}.`,
      'Correct the path after --config, or in STRANDLINE_CONFIG.',
    );
  }
  const found = configNames.map((name) => path.join(directory, name)).find(isFile);
  if (found !== undefined) return found;
  throw cliError(
    'CLI_CONFIG_MISSING',
    `There is no config in ${directory}: neither ${configNames.join(' nor ')}.`,
    'Write one, run the command in the folder that has it, or name it with --config FILE.',
  );
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}
