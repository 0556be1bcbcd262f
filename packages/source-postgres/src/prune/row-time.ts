import type { RowTime } from '@strandline/core';
import { leastUlid, leastUuid } from '@strandline/source-kit';
import { postgresError } from '../errors.js';
import type { TableFacts } from '../outbox-table.js';
import { quoteName, quoteText } from '../quote.js';
import type { KeyColumn } from './row-key.js';

/** How the age of a row is told in SQL; the table's alias is `o`. */
export interface AgeTest {
  /** The column whose order is that of time to the server; null where there is none. */
  readonly column: string | null;
  /** In SQL, the least value of that column that is not from before a time, in milliseconds since 1970. */
  bound(cutoff: number): string;
  /** Which rows are from before a time, in milliseconds since 1970. */
  before(cutoff: number): string;
  /** A timestamptz of a row's time, where it can be told. */
  readonly time: string | null;
}

const COLUMN = 'created_at';

/** Throws `PG_PRUNE_TIME` when it can't be told how old a row is. */
export function ageTest(
  { createdAt, keep }: { readonly createdAt: RowTime | null; readonly keep: number },
  table: TableFacts,
  key: readonly KeyColumn[],
): AgeTest {
  if (typeof createdAt === 'object' && createdAt !== null) return ofId(createdAt.id, table, key);
  const name = createdAt ?? COLUMN;
  const column = table.columns.find((one) => one.name === name);
  if (column !== undefined) return ofColumn(name, column.typeName, table.name);
  if (createdAt === null && keep === 0)
    return { column: null, bound: () => 'null', before: () => 'true', time: null };
  throw noTime(`${table.name} has no column ${JSON.stringify(name)}`);
}

/** A timestamp without a zone is taken for UTC, which is what our sessions are set to. */
function ofColumn(name: string, type: string, table: string): AgeTest {
  const column = `o.${quoteName(name)}`;
  if (/^(timestamp|date)/.test(type)) {
    const bound = (cutoff: number): string => `to_timestamp(${String(cutoff)} / 1000.0)`;
    return {
      column: name,
      bound,
      before: (cutoff) => `${column} < ${bound(cutoff)}`,
      time: `${column}::timestamptz`,
    };
  }
  if (type === 'bigint') {
    return {
      column: name,
      bound: String,
      before: (cutoff) => `${column} < ${String(cutoff)}`,
      time: `to_timestamp(${column} / 1000.0)`,
    };
  }
  throw noTime(`the column ${name} of ${table} is of the type ${type}`);
}

function ofId(kind: 'uuidv7' | 'ulid', table: TableFacts, [column, more]: readonly KeyColumn[]): AgeTest {
  const id = column === undefined || more !== undefined ? null : `o.${quoteName(column.name)}`;
  if (column !== undefined && id !== null && kind === 'uuidv7' && column.type === 'uuid') {
    const bound = (cutoff: number): string => `${quoteText(leastUuid(cutoff))}::uuid`;
    return {
      column: column.name,
      bound,
      // An id of another version has no time in it: such a row is never old.
      before: (cutoff) => `${id} < ${bound(cutoff)} and substr(${id}::text, 15, 1) = '7'`,
      time: `to_timestamp(('x' || substr(replace(${id}::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0)`,
    };
  }
  if (column !== undefined && id !== null && kind === 'ulid' && /^(text|character)/.test(column.type)) {
    return {
      // In the order of its collation, which need not be that of the digits.
      column: null,
      bound: () => 'null',
      before: (cutoff) => `upper(${id}) collate "C" < ${quoteText(leastUlid(cutoff))} and length(${id}) = 26`,
      time: null,
    };
  }
  throw noTime(
    `the primary key of ${table.name} is no single column of ${kind === 'uuidv7' ? 'the type uuid' : 'a text type'}`,
  );
}

function noTime(problem: string): Error {
  return postgresError(
    'PG_PRUNE_TIME',
    `It can't be told how old a row is: ${problem}.`,
    "Name a column of the type timestamptz, timestamp (taken for UTC) or bigint (milliseconds since 1970) in prune: { createdAt: '…' }; " +
      "or { createdAt: { id: 'uuidv7' } } or { id: 'ulid' } where the ids have it; or keep: 0, to keep no settled row.",
  );
}
