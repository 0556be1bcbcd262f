import mysql from 'mysql2/promise';

/** Runs `work` on a connection of its own. */
export async function withConnection<T>(
  url: string,
  work: (connection: mysql.Connection) => Promise<T>,
): Promise<T> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: 10_000 });
  // A server that is killed under an idle connection says so by an event, which must not end the process.
  connection.on('error', () => undefined);
  try {
    const result = await work(connection);
    await connection.end();
    return result;
  } finally {
    connection.destroy();
  }
}

/** The first column of the first row. */
export async function valueOf(
  connection: mysql.Connection,
  sql: string,
  values?: unknown[],
): Promise<string> {
  const [rows] = await connection.query<mysql.RowDataPacket[]>({ sql, rowsAsArray: true }, values);
  return String((rows[0] as unknown[] | undefined)?.[0]);
}

/** Resolves, when the server serves, with what it says of its version. */
export function versionOf(url: string): Promise<string> {
  return withConnection(url, (connection) => valueOf(connection, 'SELECT VERSION()'));
}

export async function createMysqlDatabase(serverUrl: string, name: string): Promise<string> {
  await withConnection(serverUrl, (connection) =>
    connection.query(`CREATE DATABASE ${mysql.escapeId(name, true)}`),
  );
  const url = new URL(serverUrl);
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

/**
 * Drops a database with everyone who is connected to it: an open transaction would make the drop wait, and a reader of
 * the binlog would stay.
 */
export async function dropMysqlDatabase(serverUrl: string, name: string): Promise<void> {
  await withConnection(serverUrl, async (connection) => {
    const sessions = (await sessionsOf(connection)).filter(({ database }) => database === name);
    for (const { id } of sessions) await endSession(connection, id);
    await connection.query(`DROP DATABASE IF EXISTS ${mysql.escapeId(name, true)}`);
  });
}

/**
 * Tells the server to shut down, which it does once it has answered. Readers of the binlog are ended first, in one go:
 * MySQL gives them 8 seconds to end by themselves, which none does.
 */
export async function shutDown(serverUrl: string): Promise<void> {
  const url = new URL(serverUrl);
  url.searchParams.set('multipleStatements', 'true');
  await withConnection(url.href, async (connection) => {
    const sessions = await sessionsOf(connection);
    const readers = sessions.filter(({ command }) => command.startsWith('Binlog Dump'));
    const kills = readers.map(({ id }) => `KILL ${String(id)};`);
    await connection.query(`${kills.join('')} SHUTDOWN`);
  });
}

/** A connection as the server sees it. */
export interface Session {
  readonly id: number;
  readonly user: string;
  readonly database: string | null;
  /** What it does, as in `Sleep`, `Query`, `Binlog Dump GTID`. */
  readonly command: string;
}

export async function sessionsOf(connection: mysql.Connection): Promise<Session[]> {
  const [rows] = await connection.query<mysql.RowDataPacket[]>('SHOW FULL PROCESSLIST');
  return rows.map((row) => ({
    id: Number(row['Id']),
    user: String(row['User']),
    database: row['db'] as string | null,
    command: String(row['Command']),
  }));
}

/** No error if it has ended by itself. */
export async function endSession(connection: mysql.Connection, id: number): Promise<void> {
  const noSuchThread = 1094;
  try {
    await connection.query(`KILL ${String(id)}`);
  } catch (error) {
    if ((error as { errno?: number }).errno !== noSuchThread) throw error;
  }
}
