import path from 'node:path';
import { reasonOf } from '../errors.js';
import { firstThatApplies } from '../origins/choose.js';
import { unpackDebianPackages } from '../origins/debian-packages.js';
import { LocalProcess } from '../origins/local-process.js';
import { ServerHandle, startServer } from '../origins/server-handle.js';
import { freePort } from '../process/free-port.js';
import { createRunDirectory, removeRunDirectory } from '../process/run-directory.js';
import { findOnPath } from '../process/run-program.js';
import { commandAs, unprivilegedIdentity, writePrivateFile, type Program } from '../process/unprivileged.js';
import { pingPostgres } from '../postgres/postgres-databases.js';
import type { PostgresServer } from '../postgres/postgres.js';

export interface PgBouncerOptions {
  /** The server behind the pooler. */
  readonly upstream: PostgresServer;
  /** Default `transaction`, the mode that surprises its users most. */
  readonly poolMode?: 'transaction' | 'session';
}

/** A pooler before a Postgres, with the same databases, user and password. */
export interface PgBouncer extends AsyncDisposable {
  /** As the upstream's url, through the pooler. */
  readonly url: string;
  /** Stops and removes it. */
  stop(): Promise<void>;
}

/**
 * A PgBouncer from the PATH or from Debian packages that are unpacked into the project's cache.
 *
 * @throws ServerError `SERVER_UNAVAILABLE` with the reason of each way, `SERVER_START_FAILED` with the log.
 */
export function startPgBouncer(options: PgBouncerOptions): Promise<PgBouncer> {
  return startServer(() => launch(options), false);
}

async function launch(options: PgBouncerOptions): Promise<RunningPgBouncer> {
  const remedy = 'Install pgbouncer, or run where apt-get can download it.';
  const server = await firstThatApplies({
    server: 'PgBouncer',
    ways: [{ origin: 'local', launch: () => launchLocal(options) }],
    only: 'local',
    remedy,
  });
  const url = new URL(options.upstream.url);
  url.hostname = server.host;
  url.port = String(server.port);
  const handle = new ServerHandle('PgBouncer', server, () => pingPostgres(url.href));
  return new RunningPgBouncer(url.href, handle);
}

async function launchLocal({ upstream, poolMode = 'transaction' }: PgBouncerOptions): Promise<LocalProcess> {
  const pgbouncer = await locatePgBouncer();
  const directory = await createRunDirectory('pgbouncer');
  try {
    const data = path.join(directory, 'data');
    const identity = await unprivilegedIdentity(data, pgbouncer(['--version']));
    const port = await freePort();
    const config = path.join(directory, 'pgbouncer.ini');
    const users = path.join(directory, 'users.txt');
    const { username, password } = new URL(upstream.url);
    const quoted = [username, password].map((word) => `"${decodeURIComponent(word).replaceAll('"', '""')}"`);
    await writePrivateFile(identity, users, `${quoted.join(' ')}\n`);
    await writePrivateFile(identity, config, configuration({ upstream, poolMode, port, users }));
    return await LocalProcess.launch(
      {
        directory,
        logFile: path.join(directory, 'server.log'),
        command: commandAs(identity, pgbouncer([config]), data),
        stopSignal: 'SIGTERM',
        stopDeadlineMs: 2_000,
      },
      port,
      data,
    );
  } catch (error) {
    await removeRunDirectory(directory);
    throw error;
  }
}

interface Configuration {
  readonly upstream: PostgresServer;
  readonly poolMode: string;
  readonly port: number;
  readonly users: string;
}

function configuration({ upstream, poolMode, port, users }: Configuration): string {
  return `[databases]
* = host=${upstream.host} port=${String(upstream.port)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${String(port)}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = ${poolMode}
max_client_conn = 100
`;
}

async function locatePgBouncer(): Promise<(args: readonly string[]) => Program> {
  const installed = await findOnPath('pgbouncer');
  if (installed !== undefined) return (args) => ({ file: installed, args });
  try {
    const unpacked = await unpackDebianPackages(['pgbouncer']);
    return (args) => unpacked.program('usr/sbin/pgbouncer', args);
  } catch (error) {
    throw new Error(`no pgbouncer on the PATH; from Debian packages: ${reasonOf(error)}`, { cause: error });
  }
}

class RunningPgBouncer implements PgBouncer {
  readonly url: string;
  readonly handle: ServerHandle;

  constructor(url: string, handle: ServerHandle) {
    this.url = url;
    this.handle = handle;
  }

  stop(): Promise<void> {
    return this.handle.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.handle.close();
  }
}
