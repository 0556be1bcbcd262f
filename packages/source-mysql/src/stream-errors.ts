import { StrandlineError } from '@strandline/core';
import { errnoOf } from './connect-errors.js';
import { mysqlError } from './errors.js';

/** ER_MASTER_FATAL_ERROR_READING_BINLOG / ER_SOURCE_FATAL_ERROR_READING_BINLOG: many things under one number. */
const FATAL_READING_BINLOG = 1236;

const SAME_ID = /same server_uuid|same server.id|server_uuid\/server_id/i;

/** Of a login, a database, a table, a global privilege, a routine. */
const DENIED = new Set([1044, 1045, 1142, 1227, 1370, 1698]);

/** Explains why the server refused the dump, for a reason that no retry changes. */
export function streamError(error: unknown, position: string): Error {
  if (error instanceof StrandlineError) return error;
  const message = error instanceof Error ? error.message : String(error);
  // MySQL says so under 1236, MariaDB under a number of its own.
  if (SAME_ID.test(message)) return serverIdInUse(message, position, error);
  if (errnoOf(error) === FATAL_READING_BINLOG) return fatalReading(message, position, error);
  if (DENIED.has(errnoOf(error))) {
    return mysqlError(
      'MYSQL_PRIVILEGE',
      `The user may not do what is needed to read the binlog (${message}).`,
      'Run: grant replication slave, replication client on *.* to <user>; and grant select on the outbox table (MariaDB: also grant binlog monitor).',
      { cause: error, position },
    );
  }
  return refused(message, position, error);
}

function fatalReading(message: string, position: string, cause: unknown): Error {
  if (
    /impossible position|> file size|not in the master's binlog|greater than|has more GTIDs|ahead/i.test(
      message,
    )
  ) {
    return positionAhead(message, position, cause);
  }
  if (/purged|could not find first log file|too old/i.test(message)) return purged(message, position, cause);
  return refused(message, position, cause);
}

function refused(message: string, position: string, cause: unknown): Error {
  return mysqlError(
    'MYSQL_STREAM',
    `The server refused to stream its binlog (${message}).`,
    "See the server's own log at this time for details.",
    { cause, position },
  );
}

function serverIdInUse(message: string, position: string, cause: unknown): Error {
  return mysqlError(
    'MYSQL_SERVER_ID',
    `Another reader of the binlog uses the same server id (${message}).`,
    'Give this pipeline one of its own: mysql({ serverId: … }).',
    { cause, position },
  );
}

export function purged(detail: string, position: string, cause?: unknown): Error {
  return mysqlError(
    'MYSQL_PURGED',
    `The binlog from this position on is no longer there (${detail}).`,
    "Raise binlog_expire_logs_seconds. What was committed between the offset and the oldest log can't be read any more: look for it in the table, and start under a new pipeline name with start: 'snapshot' or 'earliest'.",
    { cause, position },
  );
}

export function positionAhead(detail: string, position: string, cause?: unknown): Error {
  return mysqlError(
    'MYSQL_POSITION_AHEAD',
    `The position lies ahead of what the server has (${detail}).`,
    'The server was reset or restored, or a failover has lost transactions that were handled already. Find out which; then start under a new pipeline name.',
    { cause, position },
  );
}
