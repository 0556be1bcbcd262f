import type { Position, SourceBatch } from '@strandline/core';
import type { Connection } from 'mysql2/promise';
import type { OutboxTable } from './config.js';
import { queryRows, quoteName } from './connection.js';
import { mysqlError } from './errors.js';
import type { MysqlEvent, TransactionContext } from './event.js';
import type { LogPlace } from './live-log.js';
import { parsePosition, snapshotPosition } from './position.js';
import type { RowMapper } from './row-mapper.js';
import { mariadbPosition, readLogEnd, type ServerFacts } from './server.js';
import type { TableFacts } from './table.js';

/** Rows of one query. */
const PAGE = 1_000;

/**
 * Opens a consistent snapshot and tells the place of the log that belongs to it.
 *
 * MariaDB does both at once. On MySQL the outbox alone is locked against writing for the moment between the
 * two, which waits for the transactions that have written it; there is no global lock.
 */
export async function openSnapshot(
  sql: Connection,
  locker: Connection,
  facts: ServerFacts,
  table: TableFacts,
): Promise<LogPlace> {
  await sql.query('set session transaction isolation level repeatable read');
  if (facts.flavour === 'mariadb') {
    await sql.query('start transaction with consistent snapshot, read only');
    const rows = await queryRows(sql, "show status like 'binlog_snapshot_%'");
    const value = (name: string): string =>
      rows.find((row) => String(row['Variable_name']).toLowerCase() === name)?.['Value'] ?? '';
    const at = { file: value('binlog_snapshot_file'), offset: Number(value('binlog_snapshot_position')) };
    return { at, executed: await mariadbPosition(locker, at) };
  }
  await locker.query(`lock tables ${quoteName(table.schema)}.${quoteName(table.name)} read`);
  try {
    await sql.query('start transaction with consistent snapshot, read only');
    return await readLogEnd(locker, facts);
  } finally {
    await locker.query('unlock tables');
  }
}

/** Types whose natural order comes close to the order of insertion. */
const SERIAL_TYPE = /^(tinyint|smallint|mediumint|int|bigint)/;

/** The columns that order the snapshot, with the id at the end to make them unique. */
export function snapshotOrderColumns(table: TableFacts, outbox: OutboxTable): readonly string[] {
  if (outbox.snapshotOrder !== undefined) return [...new Set([...outbox.snapshotOrder, outbox.id])];
  const type = table.columns.find(({ name }) => name.toLowerCase() === outbox.id.toLowerCase())?.type ?? '';
  if (SERIAL_TYPE.test(type)) return [outbox.id];
  throw mysqlError(
    'MYSQL_SNAPSHOT_ORDER',
    `The id ${outbox.id} of ${table.label} is of type ${type}, whose order says nothing about the order of insertion.`,
    "Say in which order start: 'snapshot' shall read the rows that are there: outbox: { snapshotOrder: ['created_at'] }.",
  );
}

/** Reads the rows of an open snapshot, page by page, after a row. */
export async function* readSnapshot(
  sql: Connection,
  table: TableFacts,
  outbox: OutboxTable,
  mapper: RowMapper,
  after: Position,
): AsyncGenerator<SourceBatch> {
  const order = snapshotOrderColumns(table, outbox);
  const names = order.map(quoteName).join(', ');
  const from = `${quoteName(table.schema)}.${quoteName(table.name)}`;
  let ordinal = 0;
  for (let row = orderValues(after); ;) {
    const where = row === null ? '' : ` where (${names}) > (${order.map(() => '?').join(', ')})`;
    const rows = await queryRows(
      sql,
      `select * from ${from}${where} order by ${names} limit ${String(PAGE)}`,
      row ?? [],
    );
    const events = rows.map((values) => {
      ordinal += 1;
      return snapshotEvent(values, order, mapper, ordinal);
    });
    if (events.length > 0) yield { events, passed: null };
    if (rows.length < PAGE) break;
    row = orderValues(events.at(-1)?.position ?? after);
  }
  await sql.query('commit');
}

function snapshotEvent(
  values: Record<string, string | null>,
  order: readonly string[],
  mapper: RowMapper,
  ordinal: number,
): MysqlEvent {
  const position = snapshotPosition(order.map((name) => String(values[name])));
  const context: TransactionContext = { id: 'snapshot', timestamp: Date.now(), position: () => position };
  return mapper.toEvent(values, context, ordinal);
}

function orderValues(position: Position): readonly string[] | null {
  const parsed = parsePosition(position);
  return parsed.kind === 'snapshot' ? parsed.row : null;
}
