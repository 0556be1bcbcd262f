import { mysqlError, MysqlSourceError } from './errors.js';
import type { FilePosition } from './position.js';

/** What in the log would lose a row: the stream stops before it. `position` is that of the transaction. */

/** An incident event: the server could not log something. */
export function incident(at: FilePosition, position: string): Error {
  return mysqlError(
    'MYSQL_INCIDENT',
    `The server says that its log lacks events, at ${text(at)}.`,
    "Look for what was committed at that time in the table; then start under a new pipeline name with start: 'snapshot'.",
    { position },
  );
}

/** What bytes that are no event make the library, or Node, throw: beside a message also a code, as of a connection. */
function isOfDecoding(error: unknown): boolean {
  if (error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError) return true;
  // Of zlib, in the compressed rows of MariaDB.
  return String((error as { readonly code?: unknown }).code).startsWith('Z_');
}

/** Errors of the connection stay as they are, for they may come right; what could not be decoded is one of ours. */
export function faultOf(error: unknown): unknown {
  if (error instanceof MysqlSourceError) return error;
  const { code, errno } = error as { readonly code?: unknown; readonly errno?: unknown };
  const ofConnection = code !== undefined || errno !== undefined || /connection/i.test(String(error));
  return ofConnection && !isOfDecoding(error) ? error : undecodable(error);
}

export function undecodable(cause: unknown): Error {
  return mysqlError(
    'MYSQL_DECODE',
    `An event of the binlog could not be decoded (${cause instanceof Error ? cause.message : String(cause)}).`,
    'The stream stopped before its transaction. Name the column type or setting in the message to the maintainers, or map other columns.',
    { cause },
  );
}

export function unknownEvent(type: number, at: FilePosition, position: string): Error {
  return mysqlError(
    'MYSQL_DECODE',
    `The log has an event of the unknown type ${String(type)} at ${text(at)}.`,
    'The stream stopped before it. The server is newer than this release: look for a newer one.',
    { position },
  );
}

export function unproven(at: FilePosition, position: string): Error {
  return mysqlError(
    'MYSQL_DECODE',
    `A transaction at ${text(at)} has rows of the outbox and no end that could be read.`,
    'The stream stopped before it. Report it with the output of SHOW BINLOG EVENTS around that position.',
    { position },
  );
}

/** @param statement its verb, and no value of it */
export function changedByStatement(statement: string, at: FilePosition, position: string): Error {
  return mysqlError(
    'MYSQL_STATEMENT',
    `A change of the outbox table at ${text(at)} was logged as a statement (${statement}): it has no rows to read.`,
    "Set binlog_format = ROW, globally and for the sessions that write the outbox. Handle that statement's rows yourself, and start under a new pipeline name. If it is of another table: grant select, trigger, show view and execute on *.* lets this user see that nothing leads from there to the outbox.",
    { position },
  );
}

/** @param index of a mapped column that the row image does not have */
export function partialImage(index: number, at: FilePosition, position: string): Error {
  return mysqlError(
    'MYSQL_ROW_IMAGE',
    `A row of the outbox at ${text(at)} was logged without its column ${String(index + 1)}, which is mapped.`,
    'Set binlog_row_image = FULL, globally and for the sessions that write the outbox.',
    { position },
  );
}

function text({ file, offset }: FilePosition): string {
  return `${file}:${String(offset)}`;
}
