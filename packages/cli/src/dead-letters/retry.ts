import type { LetterState } from '@strandline/core';
import { written } from '../streams.js';
import type { Desk } from './at-desk.js';
import { confirm } from '../confirm.js';
import { type PipelineOptions } from '../options.js';
import { filterOf, type FilterOptions } from './options.js';
import { countsLine } from './counts-line.js';
import { amount, json, printable } from '../text.js';

export interface RetryOptions extends PipelineOptions, FilterOptions {
  readonly state?: Extract<LetterState, 'waiting' | 'skipped'>;
  readonly yes?: true;
}

/** Keys that the answer names in a text. */
const NAMED = 10;

/** Whether nothing but the state limits what is released. */
export function isEverything(options: RetryOptions): boolean {
  return Object.keys(filterOf(options)).length === 0;
}

/** Releases the keys of the letters that fit. */
export async function retry({ pipeline, letters, streams }: Desk, options: RetryOptions): Promise<void> {
  const { state, yes } = options;
  if (isEverything(options)) {
    const question = `Release everything? ${countsLine(pipeline, await letters.counts()).trimEnd()}.`;
    await confirm(question, yes, streams);
  }
  const keys = await letters.retry({ ...filterOf(options), ...(state === undefined ? {} : { state }) });
  const counts = await letters.counts();
  await written(
    streams.stdout,
    options.json === true
      ? json({ pipeline, counts, released: keys })
      : `${amount(keys.length, 'key')} released${named(keys)}\n${countsLine(pipeline, counts)}`,
  );
}

function named(keys: readonly string[]): string {
  if (keys.length === 0) return '';
  const more = keys.length > NAMED ? `, and ${String(keys.length - NAMED)} more` : '';
  return `: ${keys.slice(0, NAMED).map(printable).join(', ')}${more}`;
}
