import type { Charsets } from './charsets.js';
import {
  EVENT_OVERHEAD,
  NO_COLUMNS,
  type OutboxRow,
  type OutboxTable,
  type PayloadFormat,
} from '@strandline/source-kit';
import { mysqlError, MysqlSourceError } from './errors.js';
import { MysqlEvent, type TransactionContext } from './event.js';
import { codecOf, isBinary, type Codec, type ColumnType } from './values.js';

/** A column that is mapped to something. */
export interface MappedColumn {
  /** As the table spells it. */
  readonly name: string;
  readonly index: number;
  readonly codec: Codec;
}

/** Gives the text of a column in one row; null for NULL. */
type Reader = (column: MappedColumn) => string | null;

const KEY_FUNCTION_RULE =
  'Nothing after it was handed out. It must return a string, or null for a row without a key.';

/** Maps rows of one table layout to events. Only mapped columns are made text, unless the key is a function. */
export class RowMapper {
  readonly #outbox: OutboxTable;
  readonly #table: string;
  readonly #nullKey: 'reject' | 'unordered';
  readonly #id: MappedColumn;
  readonly #key: readonly MappedColumn[];
  readonly #type: MappedColumn | null;
  readonly #payload: MappedColumn | null;
  readonly #headers: MappedColumn | null;
  readonly #extra: readonly MappedColumn[];
  readonly #all: readonly MappedColumn[];
  readonly #format: PayloadFormat;
  /** Every column that is read, by its index in the layout. */
  readonly mapped: ReadonlyMap<number, MappedColumn>;
  /** Indexes of the columns that a row image must have. */
  readonly needed: readonly number[];

  /** Throws `MYSQL_COLUMN_MISSING` when a mapped column is not there, `MYSQL_DECODE` when it can't be read. */
  constructor(
    outbox: OutboxTable,
    table: string,
    columns: readonly ColumnType[],
    nullKey: 'reject' | 'unordered',
    charsets: Charsets,
  ) {
    this.#outbox = outbox;
    this.#table = table;
    this.#nullKey = nullKey;
    const mapped = new Map<number, MappedColumn>();
    const find = (name: string): MappedColumn => {
      const index = columnIndex(columns, name, table);
      const column = mapped.get(index) ?? mappedColumn(columns, index, table, charsets);
      mapped.set(index, column);
      return column;
    };
    const { key } = outbox;
    this.#id = find(outbox.id);
    this.#key = typeof key === 'function' ? [] : [key].flat().map(find);
    this.#type = outbox.type === undefined ? null : find(outbox.type);
    this.#payload = outbox.payload === undefined ? null : find(outbox.payload);
    this.#headers = outbox.headers === undefined ? null : find(outbox.headers);
    // Under the names that the options give them: MySQL does not tell upper from lower case.
    this.#extra = outbox.columns.map((name) => ({ ...find(name), name }));
    this.#all = typeof key === 'function' ? columns.map(({ name }) => find(name)) : [];
    const payloadType = this.#payload === null ? '' : (columns[this.#payload.index]?.type ?? '');
    this.#format = outbox.payloadFormat ?? payloadFormat(payloadType);
    this.mapped = mapped;
    this.needed = [...mapped.keys()];
  }

  /** The event of a row from the log, whose values the library gives under the indexes of their columns. */
  toEvent(row: Readonly<Record<string, unknown>>, context: TransactionContext, ordinal: number): MysqlEvent {
    const text: Reader = ({ name, index, codec }) => {
      const value = row[index];
      if (value === null) return null;
      try {
        return codec.fromLog(value);
      } catch (cause) {
        throw this.#undecodable(name, context.position(ordinal), cause);
      }
    };
    return this.#event(text, context, ordinal);
  }

  /** The event of a row from a query, given as the cells of the columns that are mapped. */
  fromQuery(
    cells: ReadonlyMap<number, Buffer | null>,
    context: TransactionContext,
    ordinal: number,
  ): MysqlEvent {
    const text: Reader = ({ name, index, codec }) => {
      const bytes = cells.get(index) ?? null;
      if (bytes === null) return null;
      try {
        return codec.fromQuery(bytes);
      } catch (cause) {
        throw this.#undecodable(name, context.position(ordinal), cause);
      }
    };
    return this.#event(text, context, ordinal);
  }

  #event(read: Reader, context: TransactionContext, ordinal: number): MysqlEvent {
    const text = (column: MappedColumn | null): string | null => (column === null ? null : read(column));
    const id = text(this.#id);
    if (id === null) throw this.#rowError(context, ordinal, `has NULL in its id column ${this.#outbox.id}`);
    const key = this.#keyOf(text);
    if (key === null && this.#nullKey === 'reject') throw this.#nullKeyError(context, ordinal, id);
    const type = text(this.#type);
    const payloadText = text(this.#payload);
    const headersText = text(this.#headers);
    const columns = this.#extra.length === 0 ? NO_COLUMNS : record(this.#extra, text);
    const bytes =
      EVENT_OVERHEAD +
      id.length +
      (key?.length ?? 0) +
      (payloadText?.length ?? 0) +
      (headersText?.length ?? 0);
    return new MysqlEvent(
      { id, type, payloadText, headersText, columns, bytes },
      key,
      this.#table,
      this.#format,
      context,
      ordinal,
    );
  }

  #keyOf(text: Reader): string | null {
    const { key } = this.#outbox;
    if (typeof key === 'function') return this.#computedKey(key, record(this.#all, text));
    const [first] = this.#key;
    if (typeof key === 'string') return first === undefined ? null : text(first);
    const parts = this.#key.map(text);
    return parts.includes(null) ? null : JSON.stringify(parts);
  }

  #computedKey(key: (row: OutboxRow) => string | null, row: OutboxRow): string | null {
    let value: unknown;
    try {
      value = key(row);
    } catch (cause) {
      throw mysqlError(
        'MYSQL_ROW',
        `The key function threw for a row of ${this.#table}.`,
        KEY_FUNCTION_RULE,
        { cause },
      );
    }
    if (value === null || typeof value === 'string') return value;
    throw mysqlError(
      'MYSQL_ROW',
      `The key function returned ${typeof value} for a row of ${this.#table}.`,
      KEY_FUNCTION_RULE,
    );
  }

  #undecodable(column: string, position: string, cause: unknown): Error {
    return undecodable(this.#table, column, ` at ${position}`, cause, position);
  }

  #nullKeyError(context: TransactionContext, ordinal: number, id: string): Error {
    const position = context.position(ordinal);
    return mysqlError(
      'MYSQL_NULL_KEY',
      `The row ${id} of ${this.#table} at ${position} has no key: a key column is NULL.`,
      "Nothing after it was handed out. Set nullKey: 'unordered' to run rows without a key in any order, or map another key.",
      { position },
    );
  }

  #rowError(context: TransactionContext, ordinal: number, problem: string): Error {
    const position = context.position(ordinal);
    return mysqlError(
      'MYSQL_ROW',
      `A row of ${this.#table} at ${position} ${problem}.`,
      'Nothing after it was handed out. Correct the mapping of the outbox columns, or the row.',
      { position },
    );
  }
}

function record(columns: readonly MappedColumn[], text: Reader): Record<string, string | null> {
  return Object.fromEntries(columns.map((column) => [column.name, text(column)]));
}

function columnIndex(columns: readonly ColumnType[], name: string, table: string): number {
  const index = columns.findIndex((column) => column.name.toLowerCase() === name.toLowerCase());
  if (index >= 0) return index;
  throw mysqlError(
    'MYSQL_COLUMN_MISSING',
    `The table ${table} has no column ${JSON.stringify(name)}; it has ${columns.map((other) => other.name).join(', ')}.`,
    'Correct the name in outbox: { … }, or add the column.',
  );
}

function mappedColumn(
  columns: readonly ColumnType[],
  index: number,
  table: string,
  charsets: Charsets,
): MappedColumn {
  const column = columns[index] ?? { name: '', type: '', charset: null };
  try {
    return { name: column.name, index, codec: codecOf(column, charsets) };
  } catch (cause) {
    throw cause instanceof MysqlSourceError ? cause : undecodable(table, column.name, '', cause);
  }
}

function undecodable(table: string, column: string, where: string, cause: unknown, position?: string): Error {
  return mysqlError(
    'MYSQL_DECODE',
    `The column ${column} of ${table} can't be read${where}: ${cause instanceof Error ? cause.message : String(cause)}.`,
    'Nothing after it was handed out. Map another column, or change the type of this one.',
    position === undefined ? { cause } : { cause, position },
  );
}

function payloadFormat(type: string): PayloadFormat {
  if (type === 'json') return 'json';
  return isBinary(type) ? 'bytes' : 'text';
}
