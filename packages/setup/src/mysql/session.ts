import { withoutCredentials } from '@strandline/core';
import type { Connection, ConnectionOptions } from 'mysql2';
import mysql from 'mysql2';
import type { Socket } from 'node:net';
import { setupError } from '../errors.js';
import { PATIENCE } from '../facts.js';
import type { Place } from '../place.js';

/** Rows as text, whatever their types. */
export type Row = Readonly<Record<string, string | null>>;

export interface Session {
  rows(sql: string, values?: readonly string[]): Promise<readonly Row[]>;
}

/** Milliseconds for a statement of the plan: it may have to wait for a lock. */
const STATEMENT_PATIENCE = 60_000;

/** The server's error number, or 0. */
export function errnoOf(cause: unknown): number {
  const { errno } = cause as { readonly errno?: unknown };
  return typeof errno === 'number' && errno > 0 ? errno : 0;
}

/** Looks, and changes nothing. */
export function looking<T>(place: Place, look: (session: Session) => Promise<T>): Promise<T> {
  return connected(place, PATIENCE, look);
}

/** Changes, one statement at a time; the server commits each. */
export function changing<T>(place: Place, change: (session: Session) => Promise<T>): Promise<T> {
  return connected(place, STATEMENT_PATIENCE, change);
}

async function connected<T>(
  place: Place,
  timeout: number,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const connection = mysql.createConnection(optionsOf(place));
  // A connection that breaks while nobody awaits it emits an error; its user sees the rejection of the next query.
  connection.on('error', () => undefined);
  try {
    await asked(connection, timeout, "set session sql_mode = 'NO_BACKSLASH_ESCAPES'").catch(
      (cause: unknown) => {
        throw connectError(cause, place.target);
      },
    );
    return await work({
      rows: (sql, values = []) => asked(connection, timeout, withValues(sql, values)),
    });
  } catch (cause) {
    if (cause instanceof Error && (cause as { fatal?: unknown }).fatal === true)
      throw connectError(cause, place.target);
    throw cause;
  } finally {
    connection.destroy();
    // The library only says goodbye: on a dead network the socket would wait for an answer.
    (connection as unknown as { readonly stream: Socket }).stream.destroy();
  }
}

/** The rows of an answer, which must be there in time. */
function asked(connection: Connection, timeout: number, sql: string): Promise<readonly Row[]> {
  return new Promise((resolve, reject) => {
    connection.query({ sql, timeout }, (error, result) => {
      if (error !== null) reject(error);
      else resolve(Array.isArray(result) ? (result as unknown as Row[]) : []);
    });
  });
}

function optionsOf({ url }: Place): ConnectionOptions {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const ssl = searchParams.get('ssl');
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? 3306 : Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    ...(ssl === null || ssl === 'false' ? {} : { ssl: { rejectUnauthorized: ssl !== 'insecure' } }),
    charset: 'utf8mb4',
    connectTimeout: PATIENCE,
    // Catalogs answer with bytes and numbers as they please.
    typeCast: (field) => field.string(),
  };
}

/** https://dev.mysql.com/doc/mysql-errors/9.0/en/server-error-reference.html */
const LOGIN = new Set([1044, 1045, 1049, 1251, 1130]);

function connectError(cause: unknown, target: string): Error {
  const message = withoutCredentials(cause instanceof Error ? cause.message : String(cause));
  if (LOGIN.has(errnoOf(cause)))
    return setupError(
      'SETUP_LOGIN',
      `The server at ${target} refused the login (${message}).`,
      'Check user, password and database, and the host that the user may come from.',
      { cause },
    );
  return setupError(
    'SETUP_UNREACHABLE',
    `The server at ${target} can't be reached, or did not answer in time (${message}).`,
    'Check host and port, that the server is up, and the network between.',
    { cause },
  );
}

function withValues(sql: string, values: readonly string[]): string {
  let index = 0;
  return sql.replaceAll('?', () => literal(values[index++] ?? ''));
}

/** A string literal, with NO_BACKSLASH_ESCAPES. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** An SQL identifier, exactly as given. */
export function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

export function qualified({ schema, name }: { readonly schema: string; readonly name: string }): string {
  return `${quoted(schema)}.${quoted(name)}`;
}
