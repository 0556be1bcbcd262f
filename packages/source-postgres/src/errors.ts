import { StrandlineError, type ErrorDetails } from '@strandline/core';

/** Every code that this package raises. Stable: scripts and alerts may match on them. */
export type PostgresErrorCode =
  | 'PG_CONFIG'
  /** The server can't be reached or does not answer. */
  | 'PG_UNREACHABLE'
  | 'PG_AUTHENTICATION'
  | 'PG_DATABASE_MISSING'
  | 'PG_VERSION'
  /** A connection pooler answers where a server is needed. */
  | 'PG_POOLER'
  | 'PG_WAL_LEVEL'
  /** The server is a hot standby. */
  | 'PG_READ_ONLY'
  | 'PG_PRIVILEGE'
  | 'PG_TABLE_MISSING'
  | 'PG_TABLE_UNLOGGED'
  /** Other tables inherit from it: their rows are its rows to a query, and not in the log. */
  | 'PG_TABLE_INHERITED'
  | 'PG_TABLE_CHANGED'
  | 'PG_COLUMN_MISSING'
  | 'PG_PUBLICATION_MISSING'
  | 'PG_PUBLICATION_MISMATCH'
  | 'PG_PUBLICATION_CHANGED'
  | 'PG_SLOT_MISSING'
  | 'PG_SLOT_MISMATCH'
  /** The server has invalidated the slot: its log is gone. */
  | 'PG_SLOT_LOST'
  /** The slot is past the saved offset: somebody else moved it, or made it anew. */
  | 'PG_SLOT_ADVANCED'
  /** Another program reads the slot. */
  | 'PG_SLOT_IN_USE'
  | 'PG_SLOT_LIMIT'
  /** The log does not reach back to where a reader is to begin, or to go on. */
  | 'PG_HISTORY_GONE'
  /** The offset store has nothing for a pipeline that ran before. */
  | 'PG_OFFSET_MISSING'
  /** The saved offset belongs to another server, database or slot. */
  | 'PG_OFFSET_FOREIGN'
  /** The server's history branched off before the saved offset. */
  | 'PG_TIMELINE'
  /** The slot's connection counts as a synchronous standby: commits would wait for their own handling. */
  | 'PG_SYNC_STANDBY'
  | 'PG_SNAPSHOT_ORDER'
  /** Too much was inserted since the start snapshot was taken to read it on. */
  | 'PG_SNAPSHOT_STALE'
  /** There is no telling which rows are old. */
  | 'PG_PRUNE_TIME'
  /** Rows have nothing by which one can be told from all others. */
  | 'PG_PRUNE_KEY'
  /** To find out which rows are old takes longer than a statement may. */
  | 'PG_PRUNE_SLOW'
  /** There is no table whose rows could be deleted. */
  | 'PG_PRUNE_TABLE'
  /** The user may not delete rows, or not see how far replicas are. */
  | 'PG_PRUNE_PRIVILEGE'
  | 'PG_ROW'
  | 'PG_NULL_KEY'
  | 'PG_MESSAGE'
  | 'PG_PROTOCOL'
  | 'PG_POSITION'
  /** The server refused the stream for a reason that no retry changes. */
  | 'PG_STREAM';

export class PostgresSourceError extends StrandlineError<PostgresErrorCode> {
  override readonly name = 'PostgresSourceError';
}

export function postgresError(
  code: PostgresErrorCode,
  problem: string,
  remedy: string,
  details?: ErrorDetails,
): PostgresSourceError {
  return new PostgresSourceError(code, problem, remedy, details);
}
