import { snapshotPosition, type Ids } from '@strandline/source-kit';
import type { Position, PositionRange } from '@strandline/core';
import type pg from 'pg';
import type { OutboxTable } from '@strandline/source-kit';
import { unhurried } from './connection.js';
import { postgresError } from './errors.js';
import type { PostgresEvent, TransactionContext } from './event.js';
import type { TableFacts } from './outbox-table.js';
import { parsePosition } from './position.js';
import { quoteName, quoteText } from './quote.js';
import { RowMapper } from './row-mapper.js';
import type { SnapshotOrder } from '@strandline/source-kit';
import { toPostgresMicros } from './timestamps.js';
import type { TransactionSnapshot } from './transaction-snapshot.js';

/** Rows of one fetch: the first time, and at most. In between as many as should make so many bytes. */
const FETCH = { first: 64, most: 1_000, bytes: 8 * 1024 * 1024 };

export interface SnapshotRequest {
  readonly sql: pg.Client;
  readonly table: TableFacts;
  readonly outbox: OutboxTable;
  readonly nullKey: 'reject' | 'unordered';
  /** The row after which to read on. */
  readonly after: Position;
  /** Settled runs above it, whose ends get their rank in `order`. */
  readonly completed: readonly PositionRange[];
  readonly order: SnapshotOrder;
  /**
   * On a first reading null: the session is in the exported snapshot already. Later that snapshot is gone; the
   * session is in a new one, which also shows rows that committed since.
   */
  readonly resumed: {
    /** What the first reading saw. */
    readonly original: TransactionSnapshot;
    /** Ids of the rows that the stream will deliver. */
    readonly inserted: Ids;
  } | null;
}

/** Where each cell of a fetched row is: order values, then xmin, then the columns of the mapper. */
interface Layout {
  readonly orderColumns: readonly string[];
  readonly mapper: RowMapper;
  readonly columns: readonly string[];
}

// The server's own text of each value, as the log has it: `col::text` differs for booleans and char(n).
const RAW_TEXT = { getTypeParser: () => (value: unknown) => value };

/**
 * Reads the rows that were in the outbox before the slot's consistent point, in the configured order. The
 * session must be in a repeatable read transaction.
 */
export class SnapshotReader {
  readonly #request: SnapshotRequest;
  readonly #layout: Layout;
  readonly #order: SnapshotOrder;
  #ordinal = 0;

  constructor(request: SnapshotRequest) {
    this.#request = request;
    this.#layout = layoutOf(request);
    this.#order = request.order;
  }

  /** Events in order, some at a time; ends the session's transaction when there are no more. */
  async *read(): AsyncGenerator<readonly PostgresEvent[]> {
    const { sql } = this.#request;
    await this.#anchorBounds();
    await sql.query(
      `declare strandline_snapshot no scroll cursor for ${this.#select()} ${this.#orderBy('')}`,
    );
    const fetch = (count: number): string => `fetch ${String(count)} from strandline_snapshot`;
    // The first one may sort the whole table.
    let rows = await this.#query(unhurried(fetch(FETCH.first)));
    while (rows.length > 0) {
      this.#order.startBatch();
      const events = rows.map((row) => this.#event(row)).filter((event) => event !== null);
      if (events.length > 0) yield events;
      rows = await this.#query({ text: fetch(nextFetch(rows)) });
    }
    await sql.query('commit');
  }

  /** The rows that are to be read, and of them those that meet the condition. */
  #select(condition?: string): string {
    const { table, after } = this.#request;
    const row = orderValues(after);
    const unread = row === null ? [] : [`${this.#orderTuple()} > ${this.#literal(row)}`];
    const conditions = condition === undefined ? unread : [...unread, condition];
    const where = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
    return `${this.#projection()} from ${table.sqlName}${where}`;
  }

  #projection(): string {
    const { orderColumns, columns } = this.#layout;
    return `select ${[...orderColumns.map(quoteName), 'xmin', ...columns.map(quoteName)].join(', ')}`;
  }

  #orderBy(direction: '' | ' desc'): string {
    return `order by ${this.#layout.orderColumns.map((name) => quoteName(name) + direction).join(', ')}`;
  }

  #orderTuple(): string {
    return `(${this.#layout.orderColumns.map(quoteName).join(', ')})`;
  }

  #literal(row: readonly string[]): string {
    const { orderColumns } = this.#layout;
    const { columns } = this.#request.table;
    const values = orderColumns.map((name, index) => {
      const type = columns.find((column) => column.name === name)?.typeName ?? 'text';
      return `${quoteText(row[index] ?? '')}::${type}`;
    });
    return `(${values.join(', ')})`;
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
    const row = orderValues(bound);
    if (row === null) return;
    const rows = this.#select(`${this.#orderTuple()} ${comparison} ${this.#literal(row)}`);
    const [found] = await this.#query(unhurried(`${rows} ${this.#orderBy(direction)} limit 1`));
    if (found !== undefined) this.#order.anchor(bound, this.#position(found));
    else if (comparison === '<=') this.#order.anchor(bound, null);
  }

  /** The event of a row, or null for one that the stream delivers. */
  #event(cells: readonly (string | null)[]): PostgresEvent | null {
    const position = this.#position(cells);
    this.#order.read(position);
    const count = this.#layout.orderColumns.length;
    const xid = Number(cells[count] ?? 0);
    const context: TransactionContext = { xid, commitMicros: toPostgresMicros(Date.now()) };
    this.#ordinal += 1;
    const event = this.#layout.mapper.fromValues(cells.slice(count + 1), {
      position,
      context,
      ordinal: this.#ordinal,
    });
    const { resumed } = this.#request;
    // Not in the original snapshot: inserted since, or there before and updated since.
    const streamed = resumed !== null && !resumed.original.covers(xid) && resumed.inserted.has(event.id);
    return streamed ? null : event;
  }

  #position(cells: readonly (string | null)[]): Position {
    const { orderColumns } = this.#layout;
    const values = cells.slice(0, orderColumns.length);
    if (values.every((value) => value !== null)) return snapshotPosition(values);
    throw postgresError(
      'PG_SNAPSHOT_ORDER',
      `A row of ${this.#request.table.name} has NULL in one of the columns ${orderColumns.join(', ')} that order the snapshot.`,
      'Name columns without NULL in outbox: { snapshotOrder: [ … ] }.',
    );
  }

  async #query(query: pg.QueryConfig): Promise<(string | null)[][]> {
    const result = await this.#request.sql.query<(string | null)[]>({
      ...query,
      rowMode: 'array',
      types: RAW_TEXT,
    });
    return result.rows;
  }
}

/** How many rows to fetch next: as many of the size of these as are wanted at once, and not too many more than now. */
function nextFetch(rows: readonly (readonly (string | null)[])[]): number {
  let bytes = 1;
  for (const cells of rows) for (const cell of cells) bytes += cell?.length ?? 0;
  const fitting = Math.floor((FETCH.bytes / bytes) * rows.length);
  return Math.max(1, Math.min(fitting, rows.length * 4, FETCH.most));
}

function orderValues(position: Position): readonly string[] | null {
  const parsed = parsePosition(position);
  return parsed.kind === 'snapshot' ? parsed.row : null;
}

/** Types whose natural order comes close to the order of insertion. */
const SERIAL_TYPES = new Set(['smallint', 'integer', 'bigint']);

/**
 * The columns that order the snapshot, with the id at the end to make them unique. Throws
 * `PG_SNAPSHOT_ORDER` when there is no sensible default.
 */
export function snapshotOrderColumns(table: TableFacts, outbox: OutboxTable): readonly string[] {
  if (outbox.snapshotOrder !== undefined) {
    for (const name of outbox.snapshotOrder) refuseMissing(table, name);
    return [...new Set([...outbox.snapshotOrder, outbox.id])];
  }
  const type = table.columns.find((column) => column.name === outbox.id)?.typeName ?? '';
  if (SERIAL_TYPES.has(type)) return [outbox.id];
  throw postgresError(
    'PG_SNAPSHOT_ORDER',
    `The id ${outbox.id} of ${table.name} is of type ${type}, whose order says nothing about the order of insertion.`,
    "Say in which order start: 'snapshot' shall read the rows that are there: outbox: { snapshotOrder: ['created_at'] }.",
  );
}

function refuseMissing({ name, columns }: TableFacts, column: string): void {
  if (columns.some((known) => known.name === column)) return;
  throw postgresError(
    'PG_SNAPSHOT_ORDER',
    `The table ${name} has no column ${JSON.stringify(column)} to order the snapshot by; it has ${columns.map((known) => known.name).join(', ')}.`,
    'Correct the name in outbox: { snapshotOrder: [ … ] }. Generated columns do not serve.',
  );
}

function layoutOf({ table, outbox, nullKey }: SnapshotRequest): Layout {
  return {
    orderColumns: snapshotOrderColumns(table, outbox),
    mapper: new RowMapper(outbox, table.name, table.columns, nullKey),
    columns: table.columns.map((column) => column.name),
  };
}
