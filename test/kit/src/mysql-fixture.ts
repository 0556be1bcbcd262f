import {
  createMysqlDatabase,
  dropMysqlDatabase,
  endSession,
  kindOf,
  sessionsOf,
  withConnection,
  type MysqlServerName,
  type Session,
} from '@strandline/servers';
import mysql from 'mysql2/promise';
import { leaseServer, type MysqlServerKind } from './servers-on-demand.js';
import { uniqueName } from './unique-name.js';
import { uniqueServerId } from './unique-server-id.js';
import { waitUntil, type WaitOptions } from './wait-until.js';

/** The connections of a process that was killed end a moment after it. */
const connectionsEndWithinMs = 2_000;

/** A database of one test's own, and a user, as whom the test and its code connect. Both go with it. */
export interface TestMysqlDatabase extends AsyncDisposable {
  readonly kind: MysqlServerKind;
  /** Connection string to this database, of a user of the same name that may do everything. */
  readonly url: string;
  /** Of the database and of the user; also the prefix of everything else that is named here. */
  readonly name: string;
  readonly pool: mysql.Pool;
  /** A server id for a reader of the binlog, another one at each call. */
  serverId(): number;
  /** Asks until the first column of the first row is 1, and resolves with that row. */
  waitFor(
    what: string,
    sql: string,
    values?: unknown[],
    options?: WaitOptions,
  ): Promise<Record<string, unknown>>;
}

/**
 * `await using db = await testMysqlDatabase('mysql')`. At the end everything is removed, and the test fails if its code
 * left a connection open, be it to another database or a reader of the binlog: all are told by their user.
 *
 * @param server one of the run's.
 * @param serverUrl of another server than the run's, such as one that the test kills.
 */
export async function testMysqlDatabase(
  server: MysqlServerName,
  serverUrl?: string,
): Promise<TestMysqlDatabase> {
  const kind = kindOf(server);
  if (serverUrl !== undefined) return createDatabase(kind, serverUrl, () => undefined);
  const { url, release } = await leaseServer(server);
  try {
    return await createDatabase(kind, url, release);
  } catch (error) {
    release();
    throw error;
  }
}

async function createDatabase(
  kind: MysqlServerKind,
  superusersUrl: string,
  release: () => void,
): Promise<TestMysqlDatabase> {
  const name = uniqueName();
  const url = new URL(await createMysqlDatabase(superusersUrl, name));
  [url.username, url.password] = [name, uniqueName()];
  await withConnection(superusersUrl, async (connection) => {
    const account = `${mysql.escape(name)}@'%'`;
    await connection.query(`CREATE USER ${account} IDENTIFIED BY ${mysql.escape(url.password)}`);
    await connection.query(`GRANT ALL ON *.* TO ${account} WITH GRANT OPTION`);
  });
  const { pool, idle } = createPool(url.href);

  return {
    kind,
    url: url.href,
    name,
    pool,
    serverId: uniqueServerId,
    waitFor: (what, sql, values, options) =>
      waitUntil(
        what,
        async () => {
          const [[row]] = await pool.query<mysql.RowDataPacket[]>(sql, values);
          return row !== undefined && Number(Object.values(row)[0]) === 1 ? row : undefined;
        },
        options,
      ),
    async [Symbol.asyncDispose]() {
      try {
        const left = await withConnection(superusersUrl, async (connection) => {
          const sessions = await sessionsLeft(connection, name, idle);
          for (const { id } of sessions) await endSession(connection, id);
          return sessions.map(({ command, database }) => `${command} in ${String(database)}`);
        });
        await pool.end();
        await dropMysqlDatabase(superusersUrl, name);
        await withConnection(superusersUrl, async (connection) => {
          await connection.query(`DROP USER ${mysql.escape(name)}@'%'`);
          await assertNothingRemains(connection, name);
        });
        if (left.length > 0)
          throw new Error(`The test left connections open to ${name}: ${left.join(', ')}.`);
      } finally {
        release();
      }
    },
  };
}

/** A pool, and which of its connections are nobody's at the moment, by the server's numbers of them. */
function createPool(url: string): { pool: mysql.Pool; idle: ReadonlySet<number> } {
  const pool = mysql.createPool({ uri: url, connectionLimit: 10 });
  const idle = new Set<number>();
  pool.on('acquire', ({ threadId }) => void idle.delete(threadId));
  pool.on('release', ({ threadId }) => void idle.add(threadId));
  return { pool, idle };
}

/** Who is connected yet as that user or to that database, readers of the binlog included, after a fair while. */
async function sessionsLeft(
  connection: mysql.Connection,
  name: string,
  idle: ReadonlySet<number>,
): Promise<Session[]> {
  let left: Session[] = [];
  const look = async (): Promise<boolean> => {
    const sessions = await sessionsOf(connection);
    left = sessions.filter(({ id, user, database }) => (user === name || database === name) && !idle.has(id));
    // A server notices that a reader is gone when it has something to send it, and this goes to the binlog.
    if (left.some(({ command }) => command.startsWith('Binlog Dump')))
      await connection.query(`DROP TABLE IF EXISTS ${mysql.escapeId(name, true)}.no_such_table`);
    return left.length === 0;
  };
  await waitUntil('all connections have ended', look, { deadlineMs: connectionsEndWithinMs }).catch(
    () => undefined,
  );
  return left;
}

async function assertNothingRemains(connection: mysql.Connection, name: string): Promise<void> {
  const sql = `SELECT CONCAT('database ', SCHEMA_NAME) AS what FROM information_schema.SCHEMATA
      WHERE LEFT(SCHEMA_NAME, CHAR_LENGTH(:name)) = :name
    UNION ALL SELECT CONCAT('user ', User) FROM mysql.user WHERE LEFT(User, CHAR_LENGTH(:name)) = :name`;
  const [rows] = await connection.query<mysql.RowDataPacket[]>({ sql, namedPlaceholders: true }, { name });
  if (rows.length === 0) return;
  throw new Error(`The test leaves behind: ${rows.map((row) => String(row['what'])).join(', ')}.`);
}
