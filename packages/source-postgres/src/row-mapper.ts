import { logPosition } from './position.js';
import type { ByteReader } from './byte-reader.js';
import { EVENT_OVERHEAD, NO_COLUMNS, type PayloadFormat } from '@strandline/core';
import type { OutboxRow, OutboxTable } from '@strandline/source-kit';
import { postgresError, type PostgresSourceError } from './errors.js';
import { PostgresEvent, type Place, type TransactionContext } from './event.js';
import type { Lsn } from './lsn.js';
import type { RelationColumn } from './pgoutput.js';

/** Where a row comes from. */
export interface RowOrigin {
  readonly position: string;
  readonly context: TransactionContext;
  readonly ordinal: number;
}

// pg_type oids of the built-in types that decide how a payload is decoded.
const JSON_OID = 114;
const JSONB_OID = 3802;
const BYTEA_OID = 17;

const KEY_FUNCTION_RULE =
  'Nothing after it was handed out. It must return a string, or null for a row without a key.';

const NULL_CELL = 0x6e; // n
const TEXT_CELL = 0x74; // t

/**
 * Maps rows of one table layout to events. Made for each Relation message, so that a column added, dropped or
 * moved by DDL in the middle of the stream is found by its name again.
 *
 * It decodes only the columns that are mapped, unless the key is a function of the whole row.
 */
export class RowMapper {
  readonly #outbox: OutboxTable;
  readonly #table: string;
  readonly #nullKey: 'reject' | 'unordered';
  readonly #columns: readonly RelationColumn[];
  readonly #wanted: readonly boolean[];
  readonly #cells: (string | null)[];
  readonly #id: number;
  readonly #key: readonly number[];
  readonly #type: number;
  readonly #payload: number;
  readonly #headers: number;
  readonly #extra: readonly number[];
  readonly #format: PayloadFormat;

  /** Throws `PG_COLUMN_MISSING` when a mapped column is not there. */
  constructor(
    outbox: OutboxTable,
    table: string,
    columns: readonly RelationColumn[],
    nullKey: 'reject' | 'unordered',
  ) {
    this.#outbox = outbox;
    this.#table = table;
    this.#nullKey = nullKey;
    this.#columns = columns;
    const indexOf = (name: string): number => columnIndex(columns, name, table);
    const { key } = outbox;
    this.#id = indexOf(outbox.id);
    this.#key = typeof key === 'function' ? [] : [key].flat().map(indexOf);
    this.#type = outbox.type === undefined ? -1 : indexOf(outbox.type);
    this.#payload = outbox.payload === undefined ? -1 : indexOf(outbox.payload);
    this.#headers = outbox.headers === undefined ? -1 : indexOf(outbox.headers);
    this.#extra = outbox.columns.map(indexOf);
    const mapped = new Set([
      this.#id,
      ...this.#key,
      this.#type,
      this.#payload,
      this.#headers,
      ...this.#extra,
    ]);
    this.#wanted = columns.map((_, index) => typeof key === 'function' || mapped.has(index));
    this.#cells = columns.map(() => null);
    this.#format = outbox.payloadFormat ?? payloadFormat(columns[this.#payload]?.typeOid);
  }

  /** Reads the tuple of an Insert message. Throws `PG_ROW` or `PG_NULL_KEY` for a row that can't be an event. */
  fromTuple(tuple: ByteReader, context: TransactionContext, commitLsn: Lsn, ordinal: number): PostgresEvent {
    const count = tuple.uint16();
    if (count !== this.#columns.length) {
      throw this.#rowError(
        logPosition(commitLsn, ordinal),
        `has ${String(count)} columns where its relation has ${String(this.#columns.length)}`,
      );
    }
    let bytes = EVENT_OVERHEAD;
    for (let index = 0; index < count; index += 1) {
      const kind = tuple.uint8();
      if (kind === TEXT_CELL) {
        const length = tuple.uint32();
        if (this.#wanted[index] === true) {
          // There are few types, and many events of each.
          this.#cells[index] =
            index === this.#type
              ? tuple.repeatedText(length, this.#cells[index] ?? null)
              : tuple.text(length);
          bytes += length;
        } else {
          tuple.skip(length);
        }
      } else if (kind === NULL_CELL) {
        this.#cells[index] = null;
      } else {
        // An insert carries every value as text; 'u' (unchanged TOAST) belongs to updates, 'b' to binary mode.
        throw this.#rowError(
          logPosition(commitLsn, ordinal),
          `has a value of kind ${JSON.stringify(String.fromCharCode(kind))}`,
        );
      }
    }
    tuple.end();
    return this.#event(this.#cells, bytes, commitLsn, context, ordinal);
  }

  /** Makes the event of a row that was read by a query, its values as the server's own text. */
  fromValues(values: readonly (string | null)[], origin: RowOrigin): PostgresEvent {
    const bytes = values.reduce((sum, value) => sum + (value?.length ?? 0), EVENT_OVERHEAD);
    return this.#event(values, bytes, origin.position, origin.context, origin.ordinal);
  }

  #event(
    cells: readonly (string | null)[],
    bytes: number,
    place: Place,
    context: TransactionContext,
    ordinal: number,
  ): PostgresEvent {
    const id = cells[this.#id] ?? null;
    if (id === null)
      throw this.#rowError(positionOf(place, ordinal), `has NULL in its id column ${this.#outbox.id}`);
    return new PostgresEvent(
      {
        id,
        type: cells[this.#type] ?? null,
        payloadText: cells[this.#payload] ?? null,
        headersText: cells[this.#headers] ?? null,
        columns: this.#extra.length === 0 ? NO_COLUMNS : this.#record(cells, this.#extra),
        bytes,
      },
      this.#keyOf(cells) ?? this.#keyForNull(positionOf(place, ordinal), id),
      place,
      this.#table,
      this.#format,
      context,
      ordinal,
    );
  }

  #keyOf(cells: readonly (string | null)[]): string | null {
    const { key } = this.#outbox;
    if (typeof key === 'function') return this.#computedKey(key, cells);
    const [first = -1] = this.#key;
    if (typeof key === 'string') return cells[first] ?? null;
    const parts = this.#key.map((index) => cells[index] ?? null);
    return parts.includes(null) ? null : JSON.stringify(parts);
  }

  #computedKey(key: (row: OutboxRow) => string | null, cells: readonly (string | null)[]): string | null {
    let value: unknown;
    try {
      value = key(this.#record(cells, [...this.#columns.keys()]));
    } catch (cause) {
      throw postgresError(
        'PG_ROW',
        `The key function threw for a row of ${this.#table}.`,
        KEY_FUNCTION_RULE,
        { cause },
      );
    }
    if (value === null || typeof value === 'string') return value;
    throw postgresError(
      'PG_ROW',
      `The key function returned ${typeof value} for a row of ${this.#table}.`,
      KEY_FUNCTION_RULE,
    );
  }

  #keyForNull(position: string, id: string): string {
    if (this.#nullKey === 'unordered') return `unordered:${position}`;
    throw postgresError(
      'PG_NULL_KEY',
      `The row ${id} of ${this.#table} at ${position} has no key: a key column is NULL.`,
      "Nothing after it was handed out. Set nullKey: 'unordered' to run rows without a key in any order, or map another key.",
      { position },
    );
  }

  /** By `fromEntries`, which makes a field of any name: `record['__proto__'] = …` would make none. */
  #record(cells: readonly (string | null)[], indexes: readonly number[]): Record<string, string | null> {
    return Object.fromEntries(
      indexes.map((index) => [this.#columns[index]?.name ?? '', cells[index] ?? null]),
    );
  }

  #rowError(position: string, problem: string): PostgresSourceError {
    return postgresError(
      'PG_ROW',
      `A row of ${this.#table} at ${position} ${problem}.`,
      'Nothing after it was handed out. Correct the mapping of the outbox columns, or the row.',
      { position },
    );
  }
}

function positionOf(place: Place, ordinal: number): string {
  return typeof place === 'bigint' ? logPosition(place, ordinal) : place;
}

function columnIndex(columns: readonly RelationColumn[], name: string, table: string): number {
  const index = columns.findIndex((column) => column.name === name);
  if (index >= 0) return index;
  throw postgresError(
    'PG_COLUMN_MISSING',
    `The table ${table} has no published column ${JSON.stringify(name)}; it has ${columns.map((column) => column.name).join(', ')}.`,
    'Correct the name in outbox: { … }, or add the column. Generated columns are not in the log.',
  );
}

function payloadFormat(typeOid: number | undefined): PayloadFormat {
  if (typeOid === JSON_OID || typeOid === JSONB_OID) return 'json';
  return typeOid === BYTEA_OID ? 'bytes' : 'text';
}
