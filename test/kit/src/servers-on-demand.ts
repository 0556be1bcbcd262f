import {
  isMysqlServerName,
  startMysqlServer,
  withConnection,
  type MysqlServer,
  type MysqlServerName,
} from '@strandline/servers';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RowDataPacket } from 'mysql2/promise';
import { setTimeout as delay } from 'node:timers/promises';
import { ServerPool } from './server-pool.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a test file asks for a server of the run that not every run needs. */
    serversOnDemand: string;
  }
}

/** The newest of each kind, and for each of two test files that run at once one of another version. */
const atOnce = 4;

export type MysqlServerKind = MysqlServer['kind'];

type Servers = Pick<
  ServerPool<Pick<MysqlServer, 'url'> & AsyncDisposable>,
  'lease' | typeof Symbol.asyncDispose
>;

/** Bytes of a log that is not worth the trouble. */
const shortLog = 4 * 1024 * 1024;

function start(name: string): Promise<MysqlServer> {
  return startMysqlServer(name as MysqlServerName);
}

/**
 * What all tests of a run have written comes to a gigabyte, and those that read a log from its beginning would read all of
 * it. When no test uses the server nobody needs what its log has; what a reader has only just left may stay until
 * the next time. That of a server of the environment is left alone.
 */
export async function shortenLog({ url, origin }: Pick<MysqlServer, 'url' | 'origin'>): Promise<void> {
  if (origin === 'environment') return;
  await withConnection(url, async (connection) => {
    const logs = async (): Promise<RowDataPacket[]> =>
      (await connection.query<RowDataPacket[]>('SHOW BINARY LOGS'))[0];
    const bytes = (await logs()).reduce((sum, log) => sum + Number(log['File_size']), 0);
    if (bytes < shortLog) return;
    await connection.query('FLUSH BINARY LOGS');
    await connection.query('PURGE BINARY LOGS TO ?', [(await logs()).at(-1)?.['Log_name']]);
    // The log has whole seconds: what commits in the one in which its file was begun may as well have been before.
    await delay(1_000 - (Date.now() % 1_000));
  });
}

/**
 * Servers of the run that are started when the first test file asks for them. They must belong to the process of the
 * run, which outlives the test files, and what vitest itself hands over is fixed before the first of those starts; so
 * they ask over HTTP, at an address that is provided to them alone. The answer goes on for as long as the server is
 * used: when a test file dies, its servers are known to be free.
 */
export class ServersOnDemand implements AsyncDisposable {
  readonly address: string;
  readonly #http: Server;
  readonly #servers: Servers;

  static async listen(
    servers: Servers = new ServerPool(atOnce, start, shortenLog),
  ): Promise<ServersOnDemand> {
    const http = createServer().listen(0, '127.0.0.1');
    await once(http, 'listening');
    return new ServersOnDemand(http, servers);
  }

  private constructor(http: Server, servers: Servers) {
    this.#http = http;
    this.#servers = servers;
    const path = `/${randomBytes(12).toString('hex')}/`; // the answers have passwords
    this.address = `http://127.0.0.1:${String((http.address() as AddressInfo).port)}${path}`;
    http.on('request', (request, response) => {
      const name = request.url?.startsWith(path) === true ? request.url.slice(path.length) : '';
      if (isMysqlServerName(name)) void this.#answer(name, response);
      else response.writeHead(404).end();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.close();
    this.#http.closeAllConnections();
    await this.#servers[Symbol.asyncDispose]();
  }

  async #answer(name: MysqlServerName, response: ServerResponse): Promise<void> {
    const hungUp = new Promise<void>((resolve) => response.on('close', resolve));
    try {
      const { server, release } = await this.#servers.lease(name);
      response.writeHead(200, { location: server.url }).flushHeaders();
      await hungUp;
      release();
    } catch (error) {
      response.writeHead(503).end(String(error));
    }
  }
}

/** A server of the run that is kept running until it is released. */
export interface LeasedServer {
  /** The superuser's connection string. */
  readonly url: string;
  readonly release: () => void;
}

/** The run's server of that name, which is started if this is the first to ask. */
export async function leaseServer(name: MysqlServerName): Promise<LeasedServer> {
  // Imported here, so that the kit also loads outside a test run.
  const { inject } = await import('vitest');
  const address = inject('serversOnDemand') as string | undefined;
  if (address === undefined) {
    throw new Error(
      'No serversOnDemand was provided. Add @strandline/test-kit/global-setup to globalSetup in the vitest config.',
    );
  }
  const request = get(`${address}${name}`);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  request.on('error', () => undefined); // the run ends, and nobody is left to ask
  const url = answer.headers.location;
  if (url !== undefined) return { url, release: () => void request.destroy() };
  const text = await answer.setEncoding('utf8').reduce((read: string, chunk: string) => read + chunk, '');
  throw new Error(`There is no ${name} for the run. ${text}`);
}
