import { StrandlineError } from '@strandline/core';
import { postgresError, PostgresSourceError } from './errors.js';

/** The fields of a server's or socket's error that decide what it means. */
interface RawError {
  readonly code?: string;
  readonly message: string;
}

function raw(cause: unknown): RawError {
  if (cause instanceof AggregateError) {
    const first: unknown = cause.errors[0];
    if (first instanceof Error) return first;
  }
  return cause instanceof Error ? cause : { message: String(cause) };
}

/** SQLSTATE of a server error, or the code of a socket error. */
export function errorCodeOf(cause: unknown): string | undefined {
  const { code } = raw(cause);
  return typeof code === 'string' ? code : undefined;
}

/**
 * Explains a failed connect or a failed first command on a session.
 * SQLSTATEs: https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function connectError(cause: unknown, target: string): PostgresSourceError {
  if (cause instanceof PostgresSourceError) return cause;
  const { code, message } = raw(cause);
  const details = { cause };
  if (isPoolerRefusal(code, message)) {
    return postgresError(
      'PG_POOLER',
      `A connection pooler answers at ${target} (${message}).`,
      'Logical replication needs a session with the server itself: use the address and port of Postgres, not of PgBouncer or another pooler.',
      details,
    );
  }
  switch (code) {
    case '28P01':
    case '28000':
      return postgresError(
        'PG_AUTHENTICATION',
        `Postgres at ${target} refused the login (${message}).`,
        "Check user and password, and that pg_hba.conf lets this user in from here, for replication too ('replication' or the database itself).",
        details,
      );
    case '3D000':
      return postgresError(
        'PG_DATABASE_MISSING',
        `Postgres at ${target} has no such database (${message}).`,
        'Correct the database name in the URL.',
        details,
      );
    case '42501':
      return postgresError(
        'PG_PRIVILEGE',
        `The user may not replicate from ${target} (${message}).`,
        'Run: alter role <user> replication; on managed servers grant the role that carries it, such as rds_replication.',
        details,
      );
    default:
      return postgresError(
        'PG_UNREACHABLE',
        `Postgres at ${target} can't be reached (${message}${code === undefined ? '' : `, ${code}`}).`,
        'Check host and port, that the server is up and accepts connections, and the network between.',
        { cause, transient: !isHopeless(cause) },
      );
  }
}

/**
 * PgBouncer and its kind refuse the startup parameters of replication, or pass the session on to a server
 * connection that does not speak the protocol, where IDENTIFY_SYSTEM is a syntax error.
 */
function isPoolerRefusal(code: string | undefined, message: string): boolean {
  return (
    /unsupported startup parameter|pgbouncer|replication connections? (is|are) not (supported|allowed)/i.test(
      message,
    ) ||
    (code === '42601' && /IDENTIFY_SYSTEM/i.test(message))
  );
}

/**
 * SQLSTATE classes and socket errors that mean: the same command may work later. Not 58P01, undefined_file: a log
 * that was removed does not come back.
 */
const TRANSIENT = /^(08|53|57P0[1-5]|40|55006|58(?!P01)|XX)/;
const FATAL_NETWORK = /^(ERR_TLS|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_VERIFY)/;

/** Can this come right by itself? Socket errors, restarts and exhausted resources can. */
export function isTransient(error: unknown): boolean {
  if (error instanceof StrandlineError) return error.transient;
  const code = errorCodeOf(error);
  if (code === undefined)
    return /terminat|timeout|closed|socket|not queryable|ECONN/i.test(raw(error).message);
  return TRANSIENT.test(code) || (/^E[A-Z_]+$/.test(code) && !isHopeless(error));
}

function isHopeless(cause: unknown): boolean {
  return FATAL_NETWORK.test(errorCodeOf(cause) ?? '');
}
