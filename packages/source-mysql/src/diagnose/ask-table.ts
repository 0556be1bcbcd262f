import { StrandlineError } from '@strandline/core';
import { checkIdentity, checkReachable, identityOf, logPlaceOf } from '../identity.js';
import { derivedServerId, queryRows } from '../connection.js';
import type { MysqlConfig } from '../config.js';
import { PositionOrder } from '../position-order.js';
import { parseLogPosition, placePosition } from '../position.js';
import { RowMapper } from '../row-mapper.js';
import { readLogStart, type ServerFacts } from '../server.js';
import type { Session } from '../session.js';
import { purged } from '../stream-errors.js';
import type { TableFacts } from '../table.js';
import type { MysqlFacts, Refused, TableState } from './facts.js';

/** Turns what the pipeline would stop with into something to be told; other errors stay errors. */
export function refusedOf(error: unknown): Refused {
  if (!(error instanceof StrandlineError)) throw error;
  const { code, message, remedy } = error as StrandlineError;
  return { code, remedy, problem: message.slice(0, message.length - remedy.length).trim() };
}

export async function askTable(
  sql: Session,
  table: TableFacts,
  { config, server, pipeline }: { config: MysqlConfig; server: string; pipeline: string },
): Promise<TableState> {
  const { schema, name, label } = table;
  const nullable = await queryRows(
    sql,
    `select column_name as name from information_schema.columns
     where table_schema = ? and table_name = ? and is_nullable = 'YES'`,
    [schema, name],
  );
  const indexed = await queryRows(
    sql,
    `select index_name as "index", column_name as name from information_schema.statistics
     where table_schema = ? and table_name = ? and non_unique = 0 order by index_name, seq_in_index`,
    [schema, name],
  );
  const keys = new Map<string, string[]>();
  for (const { index, name: column } of indexed)
    keys.set(index ?? '', [...(keys.get(index ?? '') ?? []), column ?? '']);
  return {
    ...{ schema, label },
    sqlName: `${backquoted(schema)}.${backquoted(name)}`,
    columns: columnsProblem(table, config),
    nullable: nullable.map((column) => column['name'] ?? ''),
    uniqueKeys: [...keys.values()],
    serverId: config.serverId ?? derivedServerId(`${server}/${label}/${pipeline}`),
  };
}

/** What is to be copied goes into sessions of other people, which have no ANSI_QUOTES. */
export function backquoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

function columnsProblem(table: TableFacts, { outbox, nullKey }: MysqlConfig): Refused | null {
  try {
    // A mapper of the catalog's columns throws for one that is missing or can't be read, as it would for the log's.
    new RowMapper(outbox, table.label, table.columns, nullKey, table.charsets);
    return null;
  } catch (error) {
    return refusedOf(error);
  }
}

/** Whether the log still has what follows the offset. Errors are those that the pipeline would stop with. */
export async function askReach(
  sql: Session,
  facts: ServerFacts,
  table: TableFacts,
  offset: MysqlFacts['offset'],
): Promise<null> {
  if (offset === null) return null;
  checkIdentity(facts, offset, identityOf(facts, table));
  const place = logPlaceOf(offset.watermark);
  const position = parseLogPosition(offset.watermark);
  if (place === null || position === null) return null;
  await checkReachable(sql, facts, place, offset.watermark);
  // MariaDB says what it has purged only to who asks for the log.
  const start = await readLogStart(sql, facts);
  const earliest = parseLogPosition(placePosition(facts.server, start));
  const isBefore =
    earliest !== null && new PositionOrder(facts.flavour).inLog({ ...position, ...place }, earliest) < 0;
  if (facts.flavour === 'mariadb' && isBefore) {
    throw purged(`the oldest log is ${start.at.file}`, offset.watermark);
  }
  return null;
}
