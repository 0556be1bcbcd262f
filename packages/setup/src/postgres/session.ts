import { withoutCredentials } from '@strandline/core';
import type { Socket } from 'node:net';
import pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { setupError } from '../errors.js';
import { PATIENCE } from '../facts.js';
import type { Place } from '../place.js';

/** Rows as text, whatever their types. */
export type Row = Readonly<Record<string, string | null>>;

export interface Session {
  /** The server's process as the connection was told it; a pooler tells one of its own. */
  readonly processId: number | null;
  rows(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

/** Milliseconds for a statement of the plan: it may have to wait for a lock. */
const STATEMENT_PATIENCE = 60_000;

/** SQLSTATE of a server's error, or the code of a socket's. */
export function codeOf(cause: unknown): string {
  const error = cause instanceof AggregateError ? (cause.errors[0] as unknown) : cause;
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

export function messageOf(cause: unknown): string {
  const error = cause instanceof AggregateError ? (cause.errors[0] as unknown) : cause;
  return withoutCredentials(error instanceof Error ? error.message : String(error));
}

/**
 * Looks, in a transaction that can't write and that ends by itself. Its limits are set in it, and not for the session: where
 * a pooler stands between, they would be left to others.
 */
export async function looking<T>(place: Place, look: (session: Session) => Promise<T>): Promise<T> {
  return connected(place, PATIENCE, async (client) => {
    await client.query('begin transaction isolation level repeatable read read only');
    await client.query(`set local statement_timeout = ${String(PATIENCE)}`);
    const found = await look(sessionOn(client));
    await client.query('commit');
    return found;
  });
}

/** Changes, one statement at a time, each by itself. */
export async function changing<T>(place: Place, change: (session: Session) => Promise<T>): Promise<T> {
  return connected(place, STATEMENT_PATIENCE, (client) => change(sessionOn(client)));
}

async function connected<T>(
  place: Place,
  timeout: number,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    ...parseIntoClientConfig(place.url),
    application_name: 'strandline init',
    connectionTimeoutMillis: PATIENCE,
    query_timeout: timeout,
    // The texts of the server: numbers keep their digits.
    types: { getTypeParser: () => (text: unknown) => text },
  });
  // A connection that breaks while nobody awaits it emits an error; its user sees the rejection of the next query.
  client.on('error', () => undefined);
  try {
    await client.connect().catch((cause: unknown) => {
      throw connectError(cause, place.target);
    });
    return await work(client);
  } catch (cause) {
    if (/^(E[A-Z]+$|08|57)/.test(codeOf(cause)) || /timeout|terminated/i.test(messageOf(cause)))
      throw connectError(cause, place.target);
    throw cause;
  } finally {
    const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
    await Promise.race([client.end().catch(() => undefined), closed(stream)]);
    stream.destroy();
  }
}

/** A server that is gone would not say goodbye. */
function closed(stream: Socket): Promise<void> {
  return new Promise((resolve) => {
    stream.once('close', resolve);
    setTimeout(resolve, 1_000).unref();
  });
}

function sessionOn(client: pg.Client): Session {
  return {
    processId: (client as unknown as { readonly processID: number | null }).processID,
    async rows(sql, values = []) {
      const { rows } = await client.query<Row>(sql, [...values]);
      return rows;
    },
  };
}

function connectError(cause: unknown, target: string): Error {
  const code = codeOf(cause);
  const details = { cause };
  if (/^(28|3D000)/.test(code))
    return setupError(
      'SETUP_LOGIN',
      `Postgres at ${target} refused the login (${messageOf(cause)}).`,
      'Check user, password and database, and that pg_hba.conf lets this user in from here.',
      details,
    );
  return setupError(
    'SETUP_UNREACHABLE',
    `Postgres at ${target} can't be reached, or did not answer in time (${messageOf(cause)}).`,
    'Check host and port, that the server is up, and the network between.',
    details,
  );
}

/** An SQL identifier, exactly as given. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function qualified({ schema, name }: { readonly schema: string; readonly name: string }): string {
  return `${quoted(schema)}.${quoted(name)}`;
}

/** An SQL string literal. */
export function literal(text: string): string {
  return text.includes('\\')
    ? ` E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
    : `'${text.replaceAll("'", "''")}'`;
}
