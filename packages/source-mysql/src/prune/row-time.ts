import type { RowTime } from '@strandline/core';
import { leastUlid, leastUuid } from '@strandline/source-kit';
import { quoteName, quoteText } from '../connection.js';
import { mysqlError } from '../errors.js';
import type { TableFacts } from '../table.js';
import type { KeyColumn } from './row-key.js';

/** How the age of a row is told in SQL; the table's alias is `o`. */
export interface AgeTest {
  /** The column whose order is that of time to the server; null where there is none. */
  readonly column: string | null;
  /** Which rows are from before a time, in milliseconds since 1970. */
  before(cutoff: number): string;
  /** ISO 8601 of what the column holds; null where it can't be told. */
  time(text: string): string | null;
}

const COLUMN = 'created_at';

/** Throws `MYSQL_PRUNE_TIME` when it can't be told how old a row is. */
export function ageTest(
  { createdAt, keep }: { readonly createdAt: RowTime | null; readonly keep: number },
  table: TableFacts,
  key: readonly KeyColumn[],
): AgeTest {
  if (typeof createdAt === 'object' && createdAt !== null) return ofId(createdAt.id, table, key);
  const name = createdAt ?? COLUMN;
  const column = table.columns.find((one) => one.name === name);
  if (column !== undefined) return ofColumn(name, column.type, table.label);
  if (createdAt === null && keep === 0) return { column: null, before: () => 'true', time: () => null };
  throw noTime(`${table.label} has no column ${JSON.stringify(name)}`);
}

/** A datetime is taken for UTC; a timestamp is one in our sessions. */
function ofColumn(name: string, type: string, table: string): AgeTest {
  const column = `o.${quoteName(name)}`;
  if (/^(timestamp|datetime|date)\b/.test(type)) {
    return {
      column: name,
      before: (cutoff) => `${column} < ${quoteText(dateTime(cutoff))}`,
      time: (text) => isoTime(Date.parse(`${text.replace(' ', 'T')}${text.includes(' ') ? 'Z' : ''}`)),
    };
  }
  if (type.startsWith('bigint')) {
    return {
      column: name,
      before: (cutoff) => `${column} < ${String(cutoff)}`,
      time: (text) => isoTime(Number(text)),
    };
  }
  throw noTime(`the column ${name} of ${table} is of the type ${type}`);
}

function ofId(kind: 'uuidv7' | 'ulid', table: TableFacts, [column, more]: readonly KeyColumn[]): AgeTest {
  if (column !== undefined && more === undefined) {
    const test =
      kind === 'uuidv7'
        ? ofUuid(`o.${quoteName(column.name)}`, column)
        : ofUlid(`o.${quoteName(column.name)}`, column);
    if (test !== null) return test;
  }
  throw noTime(
    `the primary key of ${table.label} is no single column of ${kind === 'uuidv7' ? 'the type binary(16), char(36) or uuid' : 'a text type'}`,
  );
}

/** An id of another version has no time in it: such a row is never old. */
function ofUuid(id: string, { name, type }: KeyColumn): AgeTest | null {
  const time = (): null => null;
  if (type === 'binary(16)') {
    const least = (cutoff: number): string => leastUuid(cutoff).replaceAll('-', '');
    return {
      column: name,
      before: (cutoff) => `${id} < X'${least(cutoff)}' and substr(hex(${id}), 13, 1) = '7'`,
      time,
    };
  }
  // MariaDB orders its own type by parts of the id that are not the first ones.
  const text = type === 'uuid' ? `cast(${id} as char(36))` : id;
  if (type !== 'uuid' && !/^(var)?char\(/.test(type)) return null;
  return {
    column: type === 'uuid' ? null : name,
    before: (cutoff) =>
      `${text} < ${quoteText(leastUuid(cutoff))} and substr(${text}, 15, 1) = '7' and char_length(${text}) = 36`,
    time,
  };
}

function ofUlid(id: string, { name, type }: KeyColumn): AgeTest | null {
  if (!/^(var)?char\(/.test(type)) return null;
  return {
    column: name,
    before: (cutoff) => `${id} < ${quoteText(leastUlid(cutoff))} and char_length(${id}) = 26`,
    time: () => null,
  };
}

/** `2026-01-02 03:04:05.678` */
function dateTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('T', ' ').replace('Z', '');
}

function isoTime(milliseconds: number): string | null {
  return Math.abs(milliseconds) <= 8.64e15 ? new Date(milliseconds).toISOString() : null;
}

function noTime(problem: string): Error {
  return mysqlError(
    'MYSQL_PRUNE_TIME',
    `It can't be told how old a row is: ${problem}.`,
    "Name a column of the type timestamp, datetime (taken for UTC) or bigint (milliseconds since 1970) in prune: { createdAt: '…' }; " +
      "or { createdAt: { id: 'uuidv7' } } or { id: 'ulid' } where the ids have it; or keep: 0, to keep no settled row.",
  );
}
