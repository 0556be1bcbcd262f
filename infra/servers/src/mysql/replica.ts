import type { RowDataPacket } from 'mysql2/promise';
import { mariadbKind } from '../mariadb/mariadb.js';
import { ServerError } from '../errors.js';
import { valueOf, withConnection } from './mysql-databases.js';
import { seriesOf, type MysqlKind } from './mysql-kind.js';
import type { MysqlOptions } from './mysql-options.js';
import { startServerOfKind, type MysqlServer } from './mysql-server.js';
import { mysqlKind } from './mysql.js';

/** A replica is seconds behind at most in a test; one that can't follow stays behind for ever. */
const catchUpDeadlineS = 20;

/** A server that follows another by GTID, read-only until it is promoted or restarted. */
export interface MysqlReplica extends MysqlServer {
  /** Resolves when it has all that its source has executed by now. */
  catchUp(): Promise<void>;
  /** Makes it a server of its own. What it has not read of its source by then it never gets, as in a failover. */
  promote(): Promise<void>;
}

/**
 * Starts a second server of the same kind and version that follows `of` from its first transaction, with the same superuser and
 * password. Resolves when it has caught up.
 *
 * @throws ServerError as the start of any server, `SERVER_START_FAILED` when it can't follow.
 */
export async function startReplica(of: MysqlServer, options: MysqlOptions = {}): Promise<MysqlReplica> {
  const kind = of.kind === 'mysql' ? mysqlKind : mariadbKind;
  const source = new URL(of.url);
  const [user, password] = [source.username, source.password].map(decodeURIComponent) as [string, string];
  const version = seriesOf(kind, of.version);
  const same = version === undefined ? {} : { version };
  const server = await startServerOfKind(kind, { ...same, ...options, exclusive: true }, password);
  const replica = Object.assign(server, {
    catchUp: () => catchUp(kind, of, server),
    promote: () => run(server, kind.replication.promote),
  });
  try {
    // From within a container the machine has another address.
    const host = server.origin === 'docker' ? 'host.docker.internal' : of.host;
    await run(server, kind.replication.follow({ host, port: of.port, user, password }));
    await replica.catchUp();
    return replica;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

async function run(server: MysqlServer, statements: readonly string[]): Promise<void> {
  await withConnection(server.url, async (connection) => {
    for (const statement of statements) await connection.query(statement);
  });
}

async function catchUp(
  { name, replication }: MysqlKind,
  of: MysqlServer,
  server: MysqlServer,
): Promise<void> {
  const executed = await withConnection(of.url, (source) => valueOf(source, replication.executed));
  await withConnection(server.url, async (connection) => {
    if ((await valueOf(connection, replication.wait, [executed, catchUpDeadlineS])) === '0') return;
    const [[status]] = await connection.query<RowDataPacket[]>('SHOW REPLICA STATUS');
    const errors = [status?.['Last_IO_Error'], status?.['Last_SQL_Error']].filter(Boolean);
    throw new ServerError(
      'SERVER_START_FAILED',
      `The ${name} replica on port ${String(server.port)} has not reached ${executed} of its source: ` +
        (errors.length > 0 ? errors.join(' ') : 'it has no error, and is slow or was promoted.'),
      'A source that has purged its first binlogs can’t be followed; start its replica earlier.',
    );
  });
}
