import {
  endSession,
  sessionsOf,
  startMariadb,
  startMysql,
  withConnection,
  type MysqlServer,
} from '@strandline/servers';
import type { MysqlServerKind } from '@strandline/test-kit';

type Settings = Readonly<Record<string, string>>;

/**
 * Servers of one test file's own, for tests that purge, reset or restart them: one of each kind and settings, because a
 * start takes seconds. Each test gets it with the log of a server that has just been made.
 */
export class OwnMysqlServers implements AsyncDisposable {
  readonly #started = new Map<string, Promise<MysqlServer>>();

  /** For one test at a time. */
  async fresh(kind: MysqlServerKind, settings: Settings = {}): Promise<MysqlServer> {
    const name = JSON.stringify([kind, settings]);
    const known = this.#started.get(name);
    const starting = known ?? start(kind, settings);
    this.#started.set(name, starting);
    const server = await starting;
    if (known !== undefined) await makeFresh(server);
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = [...this.#started.values()].map(async (starting) => {
      const server = await starting.catch(() => undefined); // told to the test that asked for it
      await server?.[Symbol.asyncDispose]();
    });
    await Promise.all(ended);
  }
}

function start(kind: MysqlServerKind, settings: Settings): Promise<MysqlServer> {
  const options = { exclusive: true, settings };
  return kind === 'mysql' ? startMysql(options) : startMariadb(options);
}

/** What tests before have changed of it: whether it runs, its checksums, who reads its log, and the log. */
async function makeFresh(server: MysqlServer): Promise<void> {
  await server.start();
  await withConnection(server.url, async (connection) => {
    await connection.query('SET GLOBAL binlog_checksum = DEFAULT');
    for (const { id, command } of await sessionsOf(connection))
      if (command.startsWith('Binlog Dump')) await endSession(connection, id);
    await connection.query(server.kind === 'mysql' ? 'RESET BINARY LOGS AND GTIDS' : 'RESET MASTER');
  });
}
