import type { Charsets } from './charsets.js';
import { EVENT_OVERHEAD, NO_COLUMNS, type PayloadFormat } from '@strandline/core';
import type { OutboxRow, OutboxTable } from '@strandline/source-kit';
import { mysqlError, MysqlSourceError } from './errors.js';
import { MysqlEvent, type TransactionContext } from './event.js';
import { codecOf, isBinary, type Codec, type ColumnType } from './values.js';

/** A column that is mapped to something. */
export interface MappedColumn {
  /** As the table spells it. */
  readonly name: string;
  readonly index: number;
  /** What the library is told to call it: names of a table can be any, such as `__proto__`. */
  readonly field: string;
  readonly codec: Codec;
}

export function fieldOf(index: number): string {
  return `c${String(index)}`;
}

/** Gives the text of a column in one row; null for NULL. */
type Read<Row> = (column: MappedColumn, row: Row) => string | null;

/** A row as the library decodes it from the log: values by the names that `tune` gives their columns. */
export type LogRow = Readonly<Record<string, unknown>>;

/** A row of a query: the cells of the columns that are mapped. */
type QueryRow = ReadonlyMap<number, Buffer | null>;

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

  /** The event of a row from the log. */
  toEvent(row: LogRow, context: TransactionContext, ordinal: number): MysqlEvent {
    return this.#event(fromLog, row, context, ordinal);
  }

  /** The event of a row from a query. */
  fromQuery(row: QueryRow, context: TransactionContext, ordinal: number): MysqlEvent {
    return this.#event(fromQuery, row, context, ordinal);
  }

  #event<Row>(read: Read<Row>, row: Row, context: TransactionContext, ordinal: number): MysqlEvent {
    try {
      return this.#read(read, row, context, ordinal);
    } catch (error) {
      throw error instanceof UnreadableColumn
        ? undecodable(this.#table, error.column, error.cause, context.position(ordinal))
        : error;
    }
  }

  #read<Row>(read: Read<Row>, row: Row, context: TransactionContext, ordinal: number): MysqlEvent {
    const id = read(this.#id, row);
    if (id === null) throw this.#rowError(context, ordinal, `has NULL in its id column ${this.#outbox.id}`);
    const key = this.#keyOf(read, row);
    if (key === null && this.#nullKey === 'reject') throw this.#nullKeyError(context, ordinal, id);
    const type = this.#type === null ? null : read(this.#type, row);
    const payloadText = this.#payload === null ? null : read(this.#payload, row);
    const headersText = this.#headers === null ? null : read(this.#headers, row);
    const columns = this.#extra.length === 0 ? NO_COLUMNS : record(this.#extra, read, row);
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

  #keyOf<Row>(read: Read<Row>, row: Row): string | null {
    const { key } = this.#outbox;
    if (typeof key === 'function') return this.#computedKey(key, record(this.#all, read, row));
    const [first] = this.#key;
    if (typeof key === 'string') return first === undefined ? null : read(first, row);
    const parts = this.#key.map((column) => read(column, row));
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

/** Why the text of a column can't be made. Its position costs, and is told by who knows it. */
class UnreadableColumn extends Error {
  constructor(
    readonly column: string,
    cause: unknown,
  ) {
    super('unreadable', { cause });
  }
}

function fromLog({ name, field, codec }: MappedColumn, row: LogRow): string | null {
  const value = row[field];
  if (value === null) return null;
  try {
    return codec.fromLog(value);
  } catch (cause) {
    throw new UnreadableColumn(name, cause);
  }
}

function fromQuery({ name, index, codec }: MappedColumn, row: QueryRow): string | null {
  const bytes = row.get(index) ?? null;
  if (bytes === null) return null;
  try {
    return codec.fromQuery(bytes);
  } catch (cause) {
    throw new UnreadableColumn(name, cause);
  }
}

function record<Row>(
  columns: readonly MappedColumn[],
  read: Read<Row>,
  row: Row,
): Record<string, string | null> {
  return Object.fromEntries(columns.map((column) => [column.name, read(column, row)]));
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
    return { name: column.name, index, field: fieldOf(index), codec: codecOf(column, charsets) };
  } catch (cause) {
    throw cause instanceof MysqlSourceError ? cause : undecodable(table, column.name, cause);
  }
}

function undecodable(table: string, column: string, cause: unknown, position?: string): Error {
  const where = position === undefined ? '' : ` at ${position}`;
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
