import { cliError, type CliError } from '../errors.js';
import { written } from '../streams.js';
import type { Desk } from './at-desk.js';
import { confirm } from '../confirm.js';
import { letterSummary } from './letter-record.js';
import type { PipelineOptions } from '../options.js';
import { countsLine } from './counts-line.js';
import { json, printable } from '../text.js';

export interface KeyOptions extends PipelineOptions {
  readonly key: string;
  readonly yes?: true;
}

/** Leaves out the head of a key, and releases the key. */
export async function skip({ pipeline, letters, streams }: Desk, options: KeyOptions): Promise<void> {
  const { key, yes } = options;
  await confirm(
    `Leave out the first letter that waits of the key ${printable(key)}, and release the key?`,
    yes,
    streams,
  );
  const skipped = await letters.skip(key);
  if (skipped === null) throw nothingOf(key);
  const counts = await letters.counts();
  await written(
    streams.stdout,
    options.json === true
      ? json({ pipeline, counts, skipped: letterSummary(skipped) })
      : `letter ${skipped.id} (event ${printable(skipped.event.id)}) skipped, key ${printable(key)} released\n${countsLine(pipeline, counts)}`,
  );
}

export function nothingOf(key: string): CliError {
  return cliError(
    'CLI_NOTHING_FOUND',
    `The key ${printable(key)} has no such letter: nothing was changed.`,
    'strandline dead-letters list tells the keys.',
  );
}
