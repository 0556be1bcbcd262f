import type { DeadLetter, LetterFilter } from '@strandline/core';
import type { PipelineDesk } from '@strandline/pipeline';
import { written } from '../streams.js';
import type { Desk } from './at-desk.js';
import { letterSummary, type LetterSummary } from './letter-record.js';
import { type PipelineOptions } from '../options.js';
import { filterOf, HELD, type FilterOptions, type StateOption } from './options.js';
import { countsLine } from './counts-line.js';
import { amount, json, printable, table } from '../text.js';

export interface ListOptions extends PipelineOptions, FilterOptions {
  readonly state: StateOption;
  readonly limit: number;
  readonly after?: string;
}

/** Characters of an error that a line shows. */
const LONGEST_ERROR = 100;

const HEAD = ['NUMBER', 'KEY', 'EVENT', 'TYPE', 'STATE', 'REASON', 'ATTEMPTS', 'PARKED AT', 'ERROR'];

/** Tells the letters that fit, oldest in the table first, without their payloads. */
export async function list({ pipeline, letters: desk, streams }: Desk, options: ListOptions): Promise<void> {
  const letters = await fitting(desk, options);
  const counts = await desk.counts();
  // There may be no more; then the next page is an empty one.
  const next = letters.length === options.limit ? (letters.at(-1)?.id ?? null) : null;
  if (options.json === true) {
    await written(streams.stdout, json({ pipeline, counts, letters, next }));
    return;
  }
  const rows = letters.length === 0 ? '' : table([HEAD, ...letters.map(row)]);
  const more = next === null ? '' : `; the next ones: --after ${next}`;
  const shown = `${amount(letters.length, 'letter')} shown${more}\n`;
  await written(streams.stdout, rows + shown + countsLine(pipeline, counts));
}

async function fitting(desk: PipelineDesk, options: ListOptions): Promise<LetterSummary[]> {
  const filter = filterOf(options);
  const { state } = options;
  if (state !== 'held') return pages(desk, state === 'all' ? filter : { ...filter, state }, options);
  const found: LetterSummary[] = [];
  for (const one of HELD) found.push(...(await pages(desk, { ...filter, state: one }, options)));
  found.sort((a, b) => compareNumbers(a.id, b.id));
  return found.slice(0, options.limit);
}

/** Decimal texts without leading zeros, of more digits than a number has. */
function compareNumbers(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1);
}

/** Pages may be short; of their letters only the summaries are kept. */
async function pages(
  desk: PipelineDesk,
  filter: LetterFilter,
  { limit, after: first }: ListOptions,
): Promise<LetterSummary[]> {
  const found: LetterSummary[] = [];
  let after = first ?? null;
  while (found.length < limit) {
    const page: readonly DeadLetter[] = await desk.list(filter, { after, limit: limit - found.length });
    if (page.length === 0) break;
    found.push(...page.map(letterSummary));
    after = page.at(-1)?.id ?? null;
  }
  return found;
}

function row(letter: LetterSummary): string[] {
  const { id, key, event, type, state, reason, attempts, parkedAt, error } = letter;
  return [id, key, event, type ?? '', state, reason, String(attempts), parkedAt, line(error)].map(printable);
}

function line(error: LetterSummary['error']): string {
  if (error === null) return '';
  const [message = ''] = error.message.split('\n', 1);
  const text = `${error.name}${error.code === null ? '' : ` ${error.code}`}: ${message}`;
  return text.length <= LONGEST_ERROR ? text : `${text.slice(0, LONGEST_ERROR)}…`;
}
