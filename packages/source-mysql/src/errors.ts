import { StrandlineError, type ErrorDetails } from '@strandline/core';

/** Every code that this package raises. Stable: scripts and alerts may match on them. */
export type MysqlErrorCode =
  | 'MYSQL_CONFIG'
  | 'MYSQL_UNREACHABLE'
  | 'MYSQL_AUTHENTICATION'
  | 'MYSQL_DATABASE_MISSING'
  | 'MYSQL_VERSION'
  | 'MYSQL_PRIVILEGE'
  /** The binlog is off, or written in a way that rows can't be read from. */
  | 'MYSQL_BINLOG_OFF'
  | 'MYSQL_BINLOG_FORMAT'
  | 'MYSQL_ROW_IMAGE'
  | 'MYSQL_ROW_METADATA'
  /** The settings of the server keep the rows of the table out of its log. */
  | 'MYSQL_NOT_LOGGED'
  | 'MYSQL_TABLE_MISSING'
  | 'MYSQL_TABLE_ENGINE'
  | 'MYSQL_COLUMN_MISSING'
  /** The table map in the log does not fit the columns that the table has. */
  | 'MYSQL_TABLE_CHANGED'
  /** A change of the outbox was logged as a statement: it has no rows to read. */
  | 'MYSQL_STATEMENT'
  /** The server says that its log lacks events. */
  | 'MYSQL_INCIDENT'
  /** The log from the saved offset on has been purged. */
  | 'MYSQL_PURGED'
  /** The log does not reach back to where a reader beside the owner was to begin. */
  | 'MYSQL_HISTORY_GONE'
  /** The saved offset lies ahead of what the server has. */
  | 'MYSQL_POSITION_AHEAD'
  | 'MYSQL_POSITION'
  /** The saved offset belongs to another server, or another table. */
  | 'MYSQL_OFFSET_FOREIGN'
  /** The offset store has nothing for a pipeline that ran before, or may have. */
  | 'MYSQL_OFFSET_MISSING'
  /** Another reader uses the same server id. */
  | 'MYSQL_SERVER_ID'
  /** Another process owns the pipeline. */
  | 'MYSQL_LOCK_HELD'
  /** XA transactions were prepared before the start: their rows can't be read any more. */
  | 'MYSQL_XA_PREPARED'
  | 'MYSQL_SNAPSHOT_ORDER'
  /** Too much was inserted since the start snapshot was taken to read it on. */
  | 'MYSQL_SNAPSHOT_STALE'
  /** There is no telling which rows are old. */
  | 'MYSQL_PRUNE_TIME'
  /** Rows have nothing by which one can be told from all others. */
  | 'MYSQL_PRUNE_KEY'
  /** The user may not delete rows. */
  | 'MYSQL_PRUNE_PRIVILEGE'
  | 'MYSQL_ROW'
  | 'MYSQL_NULL_KEY'
  | 'MYSQL_DECODE'
  | 'MYSQL_STREAM';

export class MysqlSourceError extends StrandlineError<MysqlErrorCode> {
  override readonly name = 'MysqlSourceError';
}

export function mysqlError(
  code: MysqlErrorCode,
  problem: string,
  remedy: string,
  details?: ErrorDetails,
): MysqlSourceError {
  return new MysqlSourceError(code, problem, remedy, details);
}
