import { cliError } from '../errors.js';
import { written } from '../streams.js';
import type { Desk } from './at-desk.js';
import { letterRecord, type LetterRecord } from './letter-record.js';
import type { PipelineOptions } from '../options.js';
import { countsLine } from './counts-line.js';
import { json, printable, printableLines, table } from '../text.js';

/** Tells all of one letter, payload and stack included. */
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
    ...(failure === null ? [] : section('error', failure.error.stack)),
    ...section('payload', event.payloadText ?? 'NULL'),
  ].join('');
}

function section(name: string, text: string): string[] {
  return [`${name}:\n`, ...printableLines(text).map((line) => `  ${line}\n`)];
}
