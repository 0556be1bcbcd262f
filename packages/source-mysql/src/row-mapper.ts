import type { OutboxRow, OutboxTable } from './config.js';
import { mysqlError } from './errors.js';
import { MysqlEvent, type PayloadFormat, type TransactionContext } from './event.js';
import { textOf, type ColumnType, type TextOf } from './values.js';

/** A column that is mapped to something. */
interface MappedColumn {
  readonly name: string;
  readonly index: number;
  readonly textOf: TextOf;
}

const KEY_FUNCTION_RULE =
  'Nothing after it was handed out. It must return a string, or null for a row without a key.';

/** What an event costs beside its texts: the event, its entry and its share of a strand, in bytes. */
const EVENT_OVERHEAD = 400;
const NO_COLUMNS: Readonly<Record<string, string | null>> = Object.freeze({});

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

  /** Throws `MYSQL_COLUMN_MISSING` when a mapped column is not there. */
  constructor(
    outbox: OutboxTable,
    table: string,
    columns: readonly ColumnType[],
    nullKey: 'reject' | 'unordered',
  ) {
    this.#outbox = outbox;
    this.#table = table;
    this.#nullKey = nullKey;
    const find = (name: string): MappedColumn => mappedColumn(columns, name, table);
    const { key } = outbox;
    this.#id = find(outbox.id);
    this.#key = typeof key === 'function' ? [] : [key].flat().map(find);
    this.#type = outbox.type === undefined ? null : find(outbox.type);
    this.#payload = outbox.payload === undefined ? null : find(outbox.payload);
    this.#headers = outbox.headers === undefined ? null : find(outbox.headers);
    this.#extra = outbox.columns.map(find);
    this.#all = typeof key === 'function' ? columns.map(({ name }) => find(name)) : [];
    const payloadType = columns.find(({ name }) => name === outbox.payload)?.type ?? '';
    this.#format = payloadFormat(payloadType, outbox.payloadFormat);
  }

  /** Indexes of the columns that a row image must have. */
  get needed(): readonly number[] {
    const mapped = [
      this.#id,
      ...this.#key,
      this.#type,
      this.#payload,
      this.#headers,
      ...this.#extra,
      ...this.#all,
    ];
    return mapped.filter((column) => column !== null).map(({ index }) => index);
  }

  toEvent(row: Readonly<Record<string, unknown>>, context: TransactionContext, ordinal: number): MysqlEvent {
    const text = (column: MappedColumn | null): string | null =>
      column === null ? null : column.textOf(row[column.name] === undefined ? null : row[column.name]);
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
      { id, key, type, payloadText, headersText, columns, bytes },
      this.#table,
      this.#format,
      context,
      ordinal,
    );
  }

  #keyOf(text: (column: MappedColumn) => string | null): string | null {
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

function record(
  columns: readonly MappedColumn[],
  text: (column: MappedColumn) => string | null,
): Record<string, string | null> {
  return Object.fromEntries(columns.map((column) => [column.name, text(column)]));
}

function mappedColumn(columns: readonly ColumnType[], name: string, table: string): MappedColumn {
  // Column names of MySQL do not tell upper from lower case.
  const index = columns.findIndex((column) => column.name.toLowerCase() === name.toLowerCase());
  const column = columns[index];
  if (column !== undefined) return { name: column.name, index, textOf: textOf(column) };
  throw mysqlError(
    'MYSQL_COLUMN_MISSING',
    `The table ${table} has no column ${JSON.stringify(name)}; it has ${columns.map((other) => other.name).join(', ')}.`,
    'Correct the name in outbox: { … }, or add the column.',
  );
}

function payloadFormat(type: string, given: PayloadFormat | undefined): PayloadFormat {
  if (given !== undefined) return given;
  if (type === 'json') return 'json';
  return /^(binary|varbinary|tinyblob|blob|mediumblob|longblob|bit)/.test(type) ? 'bytes' : 'text';
}
