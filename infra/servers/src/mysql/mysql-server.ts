import { randomBytes } from 'node:crypto';
import type { RowDataPacket } from 'mysql2/promise';
import { connectionStringIn, firstThatApplies, tryGiven } from '../origins/choose.js';
import { pullImage } from '../origins/docker-container.js';
import { ServerHandle, startServer } from '../origins/server-handle.js';
import type { ServerOrigin, ServerProcess } from '../origins/server-process.js';
import {
  createMysqlDatabase,
  dropMysqlDatabase,
  shutDown,
  versionOf,
  withConnection,
} from './mysql-databases.js';
import { imageOf, launchDockerMysql } from './mysql-docker.js';
import type { MysqlKind } from './mysql-kind.js';
import { launchLocalMysql, prepareLocalMysql } from './mysql-local.js';
import { superuser, type MysqlOptions } from './mysql-options.js';

/** An orderly end writes what is in memory, of a server under load for some seconds. */
const stopDeadlineMs = 30_000;

/** A running MySQL or MariaDB. The same interface wherever it came from. */
export interface MysqlServer extends AsyncDisposable {
  readonly kind: MysqlKind['kind'];
  /** Connection string of the superuser, with its password, to no database. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly origin: ServerOrigin;
  /** As the server says it, as in `9.7.4` and `11.8.6-MariaDB`. */
  readonly version: string;
  /** Only of a local server. */
  readonly dataDirectory: string | undefined;
  /** Creates an empty database; resolves with its connection string. */
  createDatabase(name: string): Promise<string>;
  /** Drops a database and everyone connected to it. No error if it isn't there. */
  dropDatabase(name: string): Promise<void>;
  /** SIGKILL; resolves when it is gone. `start` recovers. */
  kill(): Promise<void>;
  /** An orderly shutdown, which ends the binlog; data stays. */
  stop(): Promise<void>;
  /** Starts a stopped or killed server on the same port and data; resolves when it answers. */
  start(): Promise<void>;
  /** `stop()`, then `start()`. */
  restart(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing answers, as in a partition. */
  pause(): Promise<void>;
  /** SIGCONT. */
  resume(): Promise<void>;
}

/** @param password of the superuser: of a replica the source's, so that a client finds the same after a failover. */
export async function startServerOfKind(
  kind: MysqlKind,
  options: MysqlOptions,
  password = randomBytes(12).toString('hex'),
): Promise<MysqlServer> {
  const given = connectionStringIn(kind.urlVariable, options);
  if (given === undefined)
    return startServer(() => launch(kind, options, password), options.port !== undefined);
  await tryGiven(kind.urlVariable, given, (url) => writesTheBinlogAsNeeded(kind, url));
  const server = new RunningMysql(kind, given, undefined);
  await server.ask();
  return server;
}

/** Gets onto this machine what a start needs, which may take a minute the first time; then a start takes seconds. */
export async function prepareServerOfKind(kind: MysqlKind, version?: string): Promise<void> {
  if (connectionStringIn(kind.urlVariable, { version }) !== undefined) return;
  await firstThatApplies({
    server: nameOf(kind, version),
    ways: [
      { origin: 'docker', launch: () => pullImage(imageOf(kind, version)) },
      { origin: 'local', launch: () => prepareLocalMysql(kind, version) },
    ],
    only: undefined,
    remedy: remedyFor(kind, version),
  });
}

async function launch(kind: MysqlKind, options: MysqlOptions, password: string): Promise<RunningMysql> {
  const server = await firstThatApplies<ServerProcess>({
    server: nameOf(kind, options.version),
    ways: [
      { origin: 'docker', launch: () => launchDockerMysql(kind, options, password) },
      { origin: 'local', launch: () => launchLocalMysql(kind, options, password) },
    ],
    only: options.origin,
    remedy: remedyFor(kind, options.version),
  });
  const url = `mysql://${superuser}:${password}@${server.host}:${String(server.port)}`;
  return new RunningMysql(kind, url, server);
}

function nameOf({ name }: MysqlKind, version: string | undefined): string {
  return version === undefined ? name : `${name} ${version}`;
}

function remedyFor({ urlVariable, versions }: MysqlKind, version: string | undefined): string {
  if (version !== undefined) {
    const local = versions.filter(({ debian }) => debian !== undefined).map((known) => known.version);
    return `Start Docker, which has every version; on Debian where apt-get can download packages there is ${local.join(' and ')}.`;
  }
  return (
    `Set ${urlVariable} to a superuser's connection string, or start Docker, or run on Debian where apt-get can ` +
    'download packages.'
  );
}

async function writesTheBinlogAsNeeded({ kind, required }: MysqlKind, url: string): Promise<void> {
  const isMariadb = (await versionOf(url)).includes('MariaDB');
  if (isMariadb !== (kind === 'mariadb')) throw new Error(`it is a ${isMariadb ? 'MariaDB' : 'MySQL'}`);
  const [rows] = await withConnection(url, (connection) =>
    connection.query<RowDataPacket[]>('SHOW GLOBAL VARIABLES WHERE Variable_name IN (?)', [
      Object.keys(required),
    ]),
  );
  const actual = new Map(rows.map((row) => [String(row['Variable_name']), String(row['Value'])]));
  for (const [name, value] of Object.entries(required)) {
    if (actual.get(name) !== value)
      throw new Error(`its ${name} is ${actual.get(name) ?? 'unknown'}, not ${value}`);
  }
}

class RunningMysql implements MysqlServer {
  readonly kind: MysqlKind['kind'];
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly dataDirectory: string | undefined;
  readonly handle: ServerHandle;
  #version = '';

  constructor({ kind, name }: MysqlKind, url: string, process: ServerProcess | undefined) {
    this.kind = kind;
    this.url = url;
    this.host = new URL(url).hostname;
    this.port = Number(new URL(url).port || 3306);
    this.dataDirectory = process?.dataDirectory;
    this.handle = new ServerHandle(name, process, () => this.ask());
  }

  get origin(): ServerOrigin {
    return this.handle.origin;
  }

  get version(): string {
    return this.#version;
  }

  /** Resolves when the server serves. */
  async ask(): Promise<void> {
    this.#version = await versionOf(this.url);
  }

  createDatabase(name: string): Promise<string> {
    return createMysqlDatabase(this.url, name);
  }

  dropDatabase(name: string): Promise<void> {
    return dropMysqlDatabase(this.url, name);
  }

  start(): Promise<void> {
    return this.handle.start();
  }

  async stop(): Promise<void> {
    await this.resume(); // one that a test has paused can't answer
    // A server that can't be told so is down already, or else minds the signal.
    await shutDown(this.url).catch(() => undefined);
    await this.handle.stop('SIGTERM', stopDeadlineMs, 'SIGKILL');
  }

  kill(): Promise<void> {
    return this.handle.kill();
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  pause(): Promise<void> {
    return this.handle.signal('SIGSTOP');
  }

  resume(): Promise<void> {
    return this.handle.signal('SIGCONT');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.handle.close();
  }
}
