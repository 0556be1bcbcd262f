import { written } from '../streams.js';
import type { Desk } from './at-desk.js';
import { letterRecord } from './letter-record.js';
import { type PipelineOptions } from '../options.js';
import { filterOf, HELD, type FilterOptions, type StateOption } from './options.js';
import { countsLine } from './counts-line.js';
import { amount, json } from '../text.js';

export interface ExportOptions extends PipelineOptions, FilterOptions {
  readonly state: StateOption;
  readonly limit?: number;
}

/** Writes letters in full, one JSON line each, key by key in the keys' order; how many they were goes to stderr. */
export async function exportLetters(
  { pipeline, letters, streams }: Desk,
  options: ExportOptions,
): Promise<void> {
  const { state, limit = Infinity } = options;
  const filter = filterOf(options);
  const fits = state === 'held' || state === 'all' ? filter : { ...filter, state };
  let count = 0;
  for await (const letter of letters.export(fits)) {
    if (state === 'held' && !HELD.includes(letter.state)) continue;
    if (count >= limit) break;
    await written(streams.stdout, json(letterRecord(letter)));
    count += 1;
  }
  streams.stderr.write(
    `${amount(count, 'letter')} exported\n${countsLine(pipeline, await letters.counts())}`,
  );
}
