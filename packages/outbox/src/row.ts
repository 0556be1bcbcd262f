import { v7, validate as isUuid } from 'uuid';
import type { Dialect } from './dialect.js';
import { eventError, eventOf } from './errors.js';
import type { ColumnValue, NewEvent } from './event.js';
import type { Param } from './executor.js';
import { keyText, keyTexts } from './key.js';
import type { ValidOptions } from './options.js';
import { headersText, payloadParam, typeText } from './parts.js';
import { isLongerThan, isStorable, STORABLE } from './text.js';
import type { TraceContext } from './trace-context.js';

const LONGEST_ID = 255;

/** An event as it is written: values by the names of the columns, the same ones for all events of a call. */
export interface Row {
  /** Null when the server makes it. */
  readonly id: string | null;
  readonly cells: ReadonlyMap<string, Param>;
}

/**
 * Checks an event and makes its row.
 *
 * @throws OutboxError
 */
export function rowOf(
  event: NewEvent,
  options: ValidOptions,
  trace: TraceContext | null,
  dialect: Dialect,
): Row {
  const { columns, limits } = options;
  if (typeof event !== 'object' || (event as unknown) === null)
    throw eventError('An event is no object.', 'Give { key, type, payload }.');
  const texts = keyTexts(event.key, columns.key.length, limits.key);
  const key = keyText(event.key);
  const cells = new Map<string, Param>();
  const id = idOf(event, options, key);
  if (columns.id !== null && id !== null) cells.set(columns.id, id);
  for (const [n, column] of columns.key.entries()) cells.set(column, texts[n] ?? '');
  if (columns.type !== null) {
    if (event.type === undefined) throw eventError(`There is no type in ${eventOf(key)}.`, 'Give one.', key);
    cells.set(columns.type, typeText(event.type, limits, key));
  }
  if (columns.payload !== null)
    cells.set(columns.payload, payloadParam(event.payload, options.payloadFormat, limits, key));
  if (columns.headers !== null) cells.set(columns.headers, headersText(event.headers, trace, limits, key));
  refuseUnwritten(event, options, key);
  for (const [column, value] of Object.entries(event.columns ?? {})) {
    if (cells.has(column) || /[\0?]/.test(column) || column === '')
      throw eventError(
        `The column ${JSON.stringify(column)} of ${eventOf(key)} is written already, or no name.`,
        'Name other columns of the table in event.columns.',
        key,
      );
    cells.set(column, columnParam(value, column, dialect, key));
  }
  return { id, cells };
}

function idOf({ id }: NewEvent, { columns, isPreset }: ValidOptions, key: string): string | null {
  if (columns.id === null) return null;
  const text = idText(id, key);
  if (!isPreset) return text;
  if (!isUuid(text))
    throw eventError(`The id of ${eventOf(key)} is no UUID.`, 'Give a UUID, or none: then one is made.', key);
  // As Postgres gives it back, so that it is the id that the handler sees.
  return text.toLowerCase();
}

/**
 * The id that was given, or a new one.
 *
 * @throws OutboxError `OUTBOX_EVENT`
 */
export function idText(id: string | undefined, key: string): string {
  if (id === undefined) return v7();
  if (typeof id === 'string' && id !== '' && isStorable(id) && !isLongerThan(id, LONGEST_ID)) return id;
  throw eventError(
    `The id of ${eventOf(key)} is not a text that can be stored.`,
    `It must be a string of 1 to ${String(LONGEST_ID)} characters, with ${STORABLE}.`,
    key,
  );
}

/** What has no column would be lost. */
function refuseUnwritten(event: NewEvent, { columns }: ValidOptions, key: string): void {
  for (const field of ['id', 'type', 'payload', 'headers'] as const) {
    if (columns[field] !== null || event[field] === undefined) continue;
    throw eventError(
      `There is ${field} in ${eventOf(key)}, and options.columns names no column for it.`,
      `Name one in options.columns.${field}, or leave it out of the event.`,
      key,
    );
  }
}

function columnParam(value: ColumnValue, column: string, dialect: Dialect, key: string): Param {
  if (value === null) return null;
  // The servers make a number or a bool out of it, where the column is one.
  if (typeof value === 'boolean') return dialect === 'postgres' ? String(value) : value ? '1' : '0';
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value)))
    return String(value);
  if (typeof value === 'string' && isStorable(value)) return value;
  throw eventError(
    `The column ${JSON.stringify(column)} of ${eventOf(key)} can't be written.`,
    `It must be a string, a finite number, a bigint, a boolean or null; a text with ${STORABLE}.`,
    key,
  );
}
