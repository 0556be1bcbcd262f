import type { FailureHistory, ShortError } from '@strandline/core';
import { cliError } from '../errors.js';
import { written } from '../streams.js';
import type { Desk } from './at-desk.js';
import { letterRecord, type LetterRecord } from './letter-record.js';
import type { PipelineOptions } from '../options.js';
import { countsLine } from './counts-line.js';
import { json, printable, printableLines, table } from '../text.js';

/** Tells all of one letter, its attempts, payload and stack included. */
export async function show(
  { pipeline, letters, streams }: Desk,
  id: string,
  options: PipelineOptions,
): Promise<void> {
  const found = await letters.show(id);
  if (found === null) {
    throw cliError(
      'CLI_NOTHING_FOUND',
      `There is no letter with the number ${id}.`,
      'strandline dead-letters list tells the numbers. What is handled or discarded is forgotten after a while.',
    );
  }
  const letter = letterRecord(found);
  const counts = await letters.counts();
  const text =
    options.json === true
      ? json({ pipeline, counts, letter })
      : `${describe(letter)}\n${countsLine(pipeline, counts)}`;
  await written(streams.stdout, text);
}

function describe({ event, failure, ...letter }: LetterRecord): string {
  const { transaction } = event;
  const fields: readonly (readonly [string, string | null | undefined])[] = [
    ['number', letter.id],
    ['state', letter.state],
    ['reason', letter.reason],
    ['parked at', letter.parkedAt],
    ['place', String(letter.place)],
    ['key', event.key],
    ['event', event.id],
    ['type', event.type],
    ['table', event.table],
    ['position', event.position],
    ['transaction', `${transaction.id}, row ${String(transaction.ordinal)}, ${transaction.commitTime}`],
    ['headers', event.headersText],
    ...Object.entries(event.columns).map(([name, text]) => [`column ${name}`, text ?? 'NULL'] as const),
    ['attempts', failure === null ? null : String(failure.attempts)],
    ['first failed', failure?.firstFailedAt],
    ['last failed', failure?.lastFailedAt],
    ['code', failure?.error.code],
  ];
  const known = fields.flatMap(([name, text]) =>
    text === null || text === undefined ? [] : [[printable(name), printable(text)]],
  );
  return [
    table(known),
    ...(failure === null ? [] : [attempts(failure.history), ...section('error', failure.error.stack)]),
    ...section('payload', event.payloadText ?? 'NULL'),
  ].join('');
}

/** What each attempt failed with, so that they can be compared. */
function attempts(history: FailureHistory): string {
  if (history.length === 0) return '';
  const rows = history.flatMap((entry, n) => {
    const { first, last, firstFailedAt, lastFailedAt, error } = entry;
    const before = history[n - 1]?.last ?? 0;
    const when = first === last ? firstFailedAt : `${firstFailedAt} to ${lastFailedAt}`;
    const told = [span(first, last), when, errorText(error)];
    return first === before + 1 ? [told] : [[span(before + 1, first - 1), 'not kept', ''], told];
  });
  return `failures:\n${table(rows.map((row) => ['', ...row.map(printable)]))}`;
}

function span(first: number, last: number): string {
  return first === last ? String(first) : `${String(first)}–${String(last)}`;
}

function errorText({ name, code, message }: ShortError): string {
  return [code === null ? name : `${name} ${code}`, message].filter(Boolean).join(': ');
}

function section(name: string, text: string): string[] {
  return [`${name}:\n`, ...printableLines(text).map((line) => `  ${line}\n`)];
}
