import { StrandlineError } from '@strandline/core';
import { mysqlError, MysqlSourceError } from './errors.js';

interface RawError {
  readonly code?: string;
  readonly errno?: number;
  readonly message: string;
}

function raw(cause: unknown): RawError {
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error) return cause.errors[0];
  return cause instanceof Error ? cause : { message: String(cause) };
}

/** The server's error number, or 0. */
export function errnoOf(cause: unknown): number {
  return raw(cause).errno ?? 0;
}

/**
 * Explains a failed connect or a failed first command.
 * Numbers: https://dev.mysql.com/doc/mysql-errors/9.0/en/server-error-reference.html
 */
export function connectError(cause: unknown, target: string): MysqlSourceError {
  if (cause instanceof MysqlSourceError) return cause;
  const { code, errno, message } = raw(cause);
  switch (errno) {
    case 1045: // ER_ACCESS_DENIED_ERROR
    case 1044: // ER_DBACCESS_DENIED_ERROR
    case 1251:
      return mysqlError(
        'MYSQL_AUTHENTICATION',
        `The server at ${target} refused the login (${message}).`,
        'Check user, password and the host that the user may come from.',
        { cause },
      );
    case 1049: // ER_BAD_DB_ERROR
      return mysqlError(
        'MYSQL_DATABASE_MISSING',
        `The server at ${target} has no such database (${message}).`,
        'Correct the database name in the URL.',
        { cause },
      );
    case 1142: // ER_TABLEACCESS_DENIED_ERROR
    case 1227: // ER_SPECIFIC_ACCESS_DENIED_ERROR
      return mysqlError(
        'MYSQL_PRIVILEGE',
        `The user may not do what is needed at ${target} (${message}).`,
        'Run: grant replication slave, replication client on *.* to <user>; and grant select on the outbox table (MariaDB 10.5 and newer: also binlog monitor).',
        { cause },
      );
    default:
      return mysqlError(
        'MYSQL_UNREACHABLE',
        `The server at ${target} can't be reached (${message}${code === undefined ? '' : `, ${code}`}).`,
        'Check host and port, that the server is up and accepts connections, and the network between.',
        { cause, transient: !isHopeless(code) },
      );
  }
}

/** Errors that a restart, a failover or a little time can heal. */
const TRANSIENT_ERRNO = new Set([
  1040, // ER_CON_COUNT_ERROR
  1053, // ER_SERVER_SHUTDOWN
  1079,
  1152, // ER_ABORTING_CONNECTION
  1158,
  1159,
  1160,
  1161, // network reads and writes
  1205,
  1213, // lock wait, deadlock
  1317, // ER_QUERY_INTERRUPTED
  1927, // ER_CONNECTION_KILLED (MariaDB)
  3169, // ER_SESSION_WAS_KILLED
  4031, // ER_CLIENT_INTERACTION_TIMEOUT
]);

/** Can this come right by itself? */
export function isTransient(error: unknown): boolean {
  if (error instanceof StrandlineError) return error.transient;
  const { code, errno, message } = raw(error);
  if (errno !== undefined && errno > 0 && errno < 10_000) return TRANSIENT_ERRNO.has(errno);
  if (code !== undefined) return !isHopeless(code);
  return /connection|closed|socket|timeout|ECONN|EPIPE/i.test(message);
}

function isHopeless(code: string | undefined): boolean {
  return (
    code !== undefined &&
    /^(ERR_TLS|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_VERIFY|HANDSHAKE_NO_SSL)/.test(code)
  );
}
