import { randomBytes } from 'node:crypto';
import { connectionStringIn, firstThatApplies, tryGiven } from '../origins/choose.js';
import { ServerHandle, startServer } from '../origins/server-handle.js';
import type { ServerOrigin, ServerProcess } from '../origins/server-process.js';
import { createDatabase, dropDatabase, pingPostgres, withClient } from './postgres-databases.js';
import { launchDockerPostgres } from './postgres-docker.js';
import { launchLocalPostgres } from './postgres-local.js';
import { superuser, type PostgresOptions } from './postgres-options.js';

export const postgresUrlVariable = 'STRANDLINE_TEST_POSTGRES_URL';

/** A fast shutdown waits for walsenders, and those for readers that may never confirm. */
const fastStopDeadlineMs = 10_000;

/** A running Postgres. The same interface wherever it came from. */
export interface PostgresServer extends AsyncDisposable {
  /** Connection string of the superuser, with its password, to the database `postgres`. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly origin: ServerOrigin;
  /** Only of a local server. */
  readonly dataDirectory: string | undefined;
  /** Creates an empty database; resolves with its connection string. */
  createDatabase(name: string): Promise<string>;
  /** Drops a database, its replication slots, and everyone connected to it. No error if it isn't there. */
  dropDatabase(name: string): Promise<void>;
  /** SIGKILL to the postmaster and all of its children; resolves when they are gone. `start` recovers. */
  kill(): Promise<void>;
  /**
   * Stops the server and keeps its data. `fast` disconnects everyone and makes a checkpoint, but turns into
   * `immediate` after 10 s: a reader that never confirms would hold it up. `immediate` leaves recovery to `start`.
   */
  stop(mode?: 'fast' | 'immediate'): Promise<void>;
  /** Starts a stopped or killed server on the same port and data; resolves when it answers. */
  start(): Promise<void>;
  /** `stop('fast')`, then `start()`. */
  restart(): Promise<void>;
}

/**
 * A Postgres for tests: the one that `STRANDLINE_TEST_POSTGRES_URL` names, unless the options ask for a server of
 * their own; else a container where a Docker engine answers; else local binaries from npm.
 *
 * @throws ServerError `SERVER_UNAVAILABLE` with the reason of each way, `SERVER_START_FAILED` with the log.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const given = connectionStringIn(postgresUrlVariable, options);
  if (given !== undefined) {
    await tryGiven(postgresUrlVariable, given, decodesLogically);
    return new RunningPostgres(given, undefined);
  }
  return startServer(() => launchPostgres(options), options.port !== undefined);
}

async function launchPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  let password = randomBytes(12).toString('hex');
  const launchLocal = async (): Promise<ServerProcess> => {
    const local = await launchLocalPostgres(options, password);
    password = local.password; // of a persisted cluster: the one that it was made with
    return local.process;
  };
  const server = await firstThatApplies<ServerProcess>({
    server: 'Postgres',
    ways: [
      { origin: 'docker', launch: async () => launchDockerPostgres(options, password) },
      { origin: 'local', launch: launchLocal },
    ],
    only: options.origin,
    remedy:
      `Set ${postgresUrlVariable} to a superuser's connection string, or start Docker, or install with optional ` +
      'dependencies (npm install --include=optional) on Linux or macOS.',
  });
  return new RunningPostgres(
    `postgres://${superuser}:${password}@${server.host}:${String(server.port)}/postgres`,
    server,
  );
}

async function decodesLogically(url: string): Promise<void> {
  const { rows } = await withClient(url, (client) => client.query<{ wal_level: string }>('SHOW wal_level'));
  if (rows[0]?.wal_level !== 'logical')
    throw new Error(`its wal_level is ${String(rows[0]?.wal_level)}, not logical`);
}

class RunningPostgres implements PostgresServer {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly dataDirectory: string | undefined;
  readonly handle: ServerHandle;

  constructor(url: string, process: ServerProcess | undefined) {
    this.url = url;
    this.host = new URL(url).hostname;
    this.port = Number(new URL(url).port || 5432);
    this.dataDirectory = process?.dataDirectory;
    this.handle = new ServerHandle('Postgres', process, () => pingPostgres(url));
  }

  get origin(): ServerOrigin {
    return this.handle.origin;
  }

  createDatabase(name: string): Promise<string> {
    return createDatabase(this.url, name);
  }

  dropDatabase(name: string): Promise<void> {
    return dropDatabase(this.url, name);
  }

  start(): Promise<void> {
    return this.handle.start();
  }

  stop(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
    return this.handle.stop(mode === 'fast' ? 'SIGINT' : 'SIGQUIT', fastStopDeadlineMs, 'SIGQUIT');
  }

  kill(): Promise<void> {
    return this.handle.kill();
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.handle.close();
  }
}
