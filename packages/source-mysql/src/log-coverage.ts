import type { Logger } from '@strandline/core';
import { errnoOf } from './connect-errors.js';
import { queryRows } from './connection.js';
import { mysqlError } from './errors.js';
import { statusStatement, type ServerFacts } from './server.js';
import type { Session } from './session.js';
import type { TableFacts } from './table.js';

/** Errors that say the server has no such statement or name for it. */
const UNKNOWN = new Set([1064, 1193]);

/**
 * Checks that rows of the table are in this server's log at all. Two settings keep them out without a trace:
 *
 * - `binlog-do-db` and `binlog-ignore-db`, which with row format go by the database of the table;
 * - `log_replica_updates = OFF` (MariaDB's default) on a replica, whose own log lacks what it replicates.
 */
export async function checkCoverage(
  sql: Session,
  facts: ServerFacts,
  table: TableFacts,
  log: Logger,
): Promise<void> {
  await checkFilters(sql, facts, table);
  if (!(await logsReplicated(sql))) await checkReplica(sql, table, log);
}

async function checkFilters(sql: Session, facts: ServerFacts, { schema, label }: TableFacts): Promise<void> {
  const [status] = await queryRows(sql, statusStatement(facts));
  const only = databases(status?.['Binlog_Do_DB']);
  const without = databases(status?.['Binlog_Ignore_DB']);
  const isLogged = only.length > 0 ? only.includes(schema) : !without.includes(schema);
  if (isLogged) return;
  throw mysqlError(
    'MYSQL_NOT_LOGGED',
    `The server logs no changes of ${label}: ${
      only.length > 0
        ? `binlog-do-db names ${only.join(', ')} only`
        : `binlog-ignore-db names ${without.join(', ')}`
    }.`,
    'Take the database out of the filter in the configuration of the server, and restart it.',
  );
}

function databases(list: string | null | undefined): string[] {
  return (list ?? '').split(',').filter((name) => name !== '');
}

async function logsReplicated(sql: Session): Promise<boolean> {
  const rows = await queryRows(
    sql,
    "show global variables where variable_name in ('log_replica_updates', 'log_slave_updates')",
  );
  return rows.some((row) => row['Value'] === 'ON');
}

async function checkReplica(sql: Session, { label }: TableFacts, log: Logger): Promise<void> {
  const channels = await replicaChannels(sql);
  if (channels === null) {
    log.warn(
      {},
      'log_replica_updates is OFF, and this user may not see whether the server is a replica: if it is, rows that it replicates are not in its log and are not delivered. Grant replication client (MariaDB: replica monitor) to have it checked',
    );
    return;
  }
  if (channels === 0) return;
  throw mysqlError(
    'MYSQL_NOT_LOGGED',
    `The server is a replica with log_replica_updates = OFF: rows of ${label} that it replicates are not in its log.`,
    'Connect to the primary, or start this server with log_replica_updates (log_slave_updates) = ON.',
  );
}

/** From how many servers it replicates; null when this user may not see that. */
async function replicaChannels(sql: Session): Promise<number | null> {
  // MariaDB's own, MySQL's from 8.0.22 on, and the one before.
  for (const statement of ['show all slaves status', 'show replica status', 'show slave status']) {
    try {
      return (await queryRows(sql, statement)).length;
    } catch (error) {
      if (!UNKNOWN.has(errnoOf(error))) return null;
    }
  }
  return null;
}
