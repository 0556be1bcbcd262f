import { snapshotPosition } from '@strandline/source-kit';
import type { Position, PositionRange } from '@strandline/core';
import type { OutboxTable } from '@strandline/source-kit';
import { queryRows, quoteName } from './connection.js';
import { mysqlError } from './errors.js';
import type { MysqlEvent, TransactionContext } from './event.js';
import type { PatientQueries } from './patient-queries.js';
import { parsePosition } from './position.js';
import { RowMapper } from './row-mapper.js';
import type { Ids, SnapshotOrder } from '@strandline/source-kit';
import type { Session } from './session.js';
import type { TableFacts } from './table.js';
import { codecOf, isSerial, type Codec } from './values.js';

/** Rows of one query. */
const PAGE = 1_000;

export interface SnapshotRequest {
  /** In the snapshot. */
  readonly sql: Session;
  /** The same session, for what may have to sort the table. */
  readonly patient: PatientQueries;
  readonly table: TableFacts;
  readonly outbox: OutboxTable;
  readonly nullKey: 'reject' | 'unordered';
  /** The columns that the rows are read in the order of; see `snapshotOrder`. */
  readonly order: readonly string[];
  /** The row after which to read on. */
  readonly after: Position;
  /** Settled runs above it, whose ends get their rank in `ranks`. */
  readonly completed: readonly PositionRange[];
  readonly ranks: SnapshotOrder;
  /** Ids of rows that are in this snapshot and that the stream delivers as well. */
  readonly streamed: Ids;
}

/** A column that orders the rows. */
interface OrderColumn {
  readonly sqlName: string;
  readonly codec: Codec;
  readonly literal: (text: string) => string;
}

/** Reads the rows of an open snapshot in the configured order, page by page. */
export class SnapshotReader {
  readonly #request: SnapshotRequest;
  readonly #mapper: RowMapper;
  readonly #order: readonly OrderColumn[];
  readonly #indexes: readonly number[];
  #ordinal = 0;

  constructor(request: SnapshotRequest) {
    const { table, outbox, nullKey, order } = request;
    this.#request = request;
    this.#mapper = new RowMapper(outbox, table.label, table.columns, nullKey, table.charsets);
    this.#order = order.map((name) => orderColumn(table, name));
    this.#indexes = [...this.#mapper.mapped.keys()];
  }

  /** Events in order, some at a time; ends the session's transaction when there are no more. */
  async *read(): AsyncGenerator<readonly MysqlEvent[]> {
    const { sql, patient, after, ranks } = this.#request;
    await this.#anchorBounds();
    for (let last = orderValues(after); ;) {
      const condition = last === null ? '' : ` where ${this.#compared(last, '>')}`;
      const page = `${this.#select()}${condition} ${this.#orderBy('')} limit ${String(PAGE)}`;
      const rows = await patient.bytes(page);
      ranks.startBatch();
      const events = rows.map((cells) => this.#event(cells)).filter((event) => event !== null);
      if (events.length > 0) yield events;
      const end = rows.at(-1);
      if (end === undefined || rows.length < PAGE) break;
      last = this.#values(end);
    }
    await sql.run('commit');
  }

  #select(): string {
    const { table } = this.#request;
    const order = this.#order.map(({ sqlName, codec }) => codec.select(sqlName));
    const mapped = [...this.#mapper.mapped.values()].map(({ name, codec }) => codec.select(quoteName(name)));
    // The client refuses some names of columns; these are names that no column has, for the order's sake.
    const cells = [...order, ...mapped].map((cell, index) => `${cell} as "strandline cell ${String(index)}"`);
    return `select ${cells.join(', ')} from ${quoteName(table.schema)}.${quoteName(table.name)}`;
  }

  #orderBy(direction: '' | ' desc'): string {
    return `order by ${this.#order.map(({ sqlName }) => sqlName + direction).join(', ')}`;
  }

  /**
   * Rows behind or before a row. The servers use no index for (a, b) > (x, y): the first column is compared on
   * its own as well.
   */
  #compared(row: readonly string[], comparison: '>' | '>=' | '<='): string {
    const strict = comparison === '<=' ? '<' : '>';
    const alternatives = this.#order.map((_, index) => {
      const equal = this.#order.slice(0, index).map((column, i) => this.#term(column, '=', row[i]));
      const last = index === this.#order.length - 1 ? comparison : strict;
      return [...equal, this.#term(this.#order[index], last, row[index])].join(' and ');
    });
    const first = this.#term(this.#order[0], strict === '>' ? '>=' : '<=', row[0]);
    return alternatives.length === 1
      ? (alternatives[0] ?? '')
      : `${first} and (${alternatives.map((text) => `(${text})`).join(' or ')})`;
  }

  #term(column: OrderColumn | undefined, comparison: string, value: string | undefined): string {
    return `${column?.sqlName ?? ''} ${comparison} ${column?.literal(value ?? '') ?? ''}`;
  }

  /**
   * Finds the rows that stand for the ends of settled runs today: a row may have been deleted since. They are looked
   * for among those that will be read: a bound that is tied to another row never gets its rank, and a run without an
   * end swallows everything behind it.
   */
  async #anchorBounds(): Promise<void> {
    for (const { first, last } of this.#request.completed) {
      await this.#anchor(first, '>=', '');
      await this.#anchor(last, '<=', ' desc');
    }
  }

  async #anchor(bound: Position, comparison: '>=' | '<=', direction: '' | ' desc'): Promise<void> {
    const { patient, after, ranks } = this.#request;
    const row = orderValues(bound);
    if (row === null) return;
    const read = orderValues(after);
    const unread = read === null ? '' : ` and ${this.#compared(read, '>')}`;
    const [found] = await patient.bytes(
      `${this.#select()} where ${this.#compared(row, comparison)}${unread} ${this.#orderBy(direction)} limit 1`,
    );
    if (found !== undefined) ranks.anchor(bound, snapshotPosition(this.#values(found)));
    else if (comparison === '<=') ranks.anchor(bound, null);
  }

  /** The event of a row, or null for one that the stream delivers. */
  #event(cells: readonly (Buffer | null)[]): MysqlEvent | null {
    const { ranks, streamed } = this.#request;
    const position = snapshotPosition(this.#values(cells));
    ranks.read(position);
    this.#ordinal += 1;
    const context: TransactionContext = {
      id: 'snapshot',
      timestamp: Date.now(),
      position: () => position,
    };
    const mapped = new Map(this.#indexes.map((column, i) => [column, cells[this.#order.length + i] ?? null]));
    const event = this.#mapper.fromQuery(mapped, context, this.#ordinal);
    return streamed.has(event.id) ? null : event;
  }

  /** Of the order columns. */
  #values(cells: readonly (Buffer | null)[]): string[] {
    return this.#order.map(({ codec }, index) => {
      const bytes = cells[index];
      if (bytes !== null && bytes !== undefined) return codec.fromQuery(bytes);
      const { table, order } = this.#request;
      throw mysqlError(
        'MYSQL_SNAPSHOT_ORDER',
        `A row of ${table.label} has NULL in one of the columns ${order.join(', ')} that order the snapshot.`,
        'Name columns without NULL in outbox: { snapshotOrder: [ … ] }.',
      );
    });
  }
}

function orderValues(position: Position): readonly string[] | null {
  const parsed = parsePosition(position);
  return parsed.kind === 'snapshot' ? parsed.row : null;
}

/**
 * The columns that order the snapshot, made unique at the end where they are not: by the id, or by the primary key
 * where the id has no unique index. Throws `MYSQL_SNAPSHOT_ORDER` when there is no sensible default, or no unique order.
 */
export async function snapshotOrder(
  sql: Session,
  table: TableFacts,
  outbox: OutboxTable,
): Promise<readonly string[]> {
  const spelled = (name: string): string =>
    table.columns.find((column) => column.name.toLowerCase() === name.toLowerCase())?.name ?? name;
  const id = spelled(outbox.id);
  const type = table.columns.find(({ name }) => name === id)?.type ?? '';
  if (outbox.snapshotOrder === undefined && !isSerial(type)) {
    throw mysqlError(
      'MYSQL_SNAPSHOT_ORDER',
      `The id ${outbox.id} of ${table.label} is of type ${type}, whose order says nothing about the order of insertion.`,
      "Say in which order start: 'snapshot' shall read the rows that are there: outbox: { snapshotOrder: ['created_at'] }.",
    );
  }
  const order = (outbox.snapshotOrder ?? []).map(spelled);
  const unique = await uniqueIndexes(sql, table);
  const isUnique = (): boolean =>
    [...unique.values()].some((columns) => columns.every((column) => order.includes(column)));
  if (!isUnique()) order.push(id);
  if (!isUnique()) order.push(...(unique.get('PRIMARY') ?? noUniqueOrder(table, order)));
  const result = [...new Set(order)];
  for (const name of result) orderColumn(table, name);
  return result;
}

/** The columns of each unique index that has no NULL and no prefix of a column, by its name. */
async function uniqueIndexes(
  sql: Session,
  { schema, name }: TableFacts,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await queryRows(
    sql,
    `select index_name as name, column_name as "column",
            case when nullable = 'YES' or sub_part is not null then 1 else 0 end as loose
     from information_schema.statistics where table_schema = ? and table_name = ? and non_unique = 0
     order by index_name, seq_in_index`,
    [schema, name],
  );
  const indexes = new Map<string, string[]>();
  for (const row of rows) {
    const index = row['name'] ?? '';
    indexes.set(index, [...(indexes.get(index) ?? []), row['column'] ?? '']);
  }
  for (const row of rows) if (Number(row['loose']) === 1) indexes.delete(row['name'] ?? '');
  return indexes;
}

function noUniqueOrder(table: TableFacts, order: readonly string[]): never {
  throw mysqlError(
    'MYSQL_SNAPSHOT_ORDER',
    `The table ${table.label} has no unique index within ${order.join(', ')}, and no primary key: rows that compare equal could be left out.`,
    'Make the id the primary key.',
  );
}

function orderColumn(table: TableFacts, name: string): OrderColumn {
  const column = table.columns.find((other) => other.name.toLowerCase() === name.toLowerCase());
  if (column === undefined) {
    throw mysqlError(
      'MYSQL_COLUMN_MISSING',
      `The table ${table.label} has no column ${JSON.stringify(name)} to order the snapshot by.`,
      'Correct outbox: { snapshotOrder: [ … ] }.',
    );
  }
  const codec = codecOf(column, table.charsets);
  if (codec.literal === null) {
    throw mysqlError(
      'MYSQL_SNAPSHOT_ORDER',
      `The column ${column.name} of ${table.label} is of type ${column.type}, which can't be read on in its order.`,
      'Name columns of numbers, dates, or short texts in outbox: { snapshotOrder: [ … ] }.',
    );
  }
  return { sqlName: quoteName(column.name), codec, literal: codec.literal };
}
