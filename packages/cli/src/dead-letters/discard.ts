import { written } from '../streams.js';
import type { Desk } from './at-desk.js';
import { confirm } from '../confirm.js';
import { nothingOf, type KeyOptions } from './skip.js';
import { countsLine } from './counts-line.js';
import { amount, json, printable } from '../text.js';

/** Gives up all letters of a key that wait or were skipped. */
export async function discard({ pipeline, letters, streams }: Desk, options: KeyOptions): Promise<void> {
  const { key, yes } = options;
  await confirm(
    `Give up all letters of the key ${printable(key)} that wait or were skipped? Nothing brings them back.`,
    yes,
    streams,
  );
  const discarded = await letters.discard(key);
  if (discarded === 0) throw nothingOf(key);
  const counts = await letters.counts();
  await written(
    streams.stdout,
    options.json === true
      ? json({ pipeline, counts, discarded })
      : `${amount(discarded, 'letter')} of the key ${printable(key)} discarded\n${countsLine(pipeline, counts)}`,
  );
}
