import { startMariadb, startMysql, type MysqlServer } from '@strandline/servers';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a test file asks for a server of the run that not every run needs. */
    serversOnDemand: string;
  }
}

const starts = { mysql: startMysql, mariadb: startMariadb };
export type MysqlServerKind = keyof typeof starts;

/**
 * Servers of the run that are started when the first test file asks for them. They must belong to the process of the
 * run, which outlives the test files, and what vitest itself hands over is fixed before the first of those starts; so
 * they ask over HTTP, at an address that is provided to them alone.
 */
export class ServersOnDemand implements AsyncDisposable {
  readonly address: string;
  readonly #http: Server;
  readonly #started = new Map<string, Promise<MysqlServer>>();

  static async listen(): Promise<ServersOnDemand> {
    const http = createServer().listen(0, '127.0.0.1');
    await once(http, 'listening');
    return new ServersOnDemand(http);
  }

  private constructor(http: Server) {
    this.#http = http;
    const path = `/${randomBytes(12).toString('hex')}/`; // the answers have passwords
    this.address = `http://127.0.0.1:${String((http.address() as AddressInfo).port)}${path}`;
    http.on('request', (request, response) => {
      const kind = request.url?.startsWith(path) === true ? request.url.slice(path.length) : '';
      if (kind !== 'mysql' && kind !== 'mariadb') {
        response.writeHead(404).end();
        return;
      }
      this.#server(kind).then(
        (server) => response.end(server.url),
        (error: unknown) => response.writeHead(503).end(String(error)),
      );
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.close();
    this.#http.closeAllConnections();
    const started = await Promise.allSettled(this.#started.values());
    for (const server of started)
      if (server.status === 'fulfilled') await server.value[Symbol.asyncDispose]();
  }

  #server(kind: MysqlServerKind): Promise<MysqlServer> {
    let server = this.#started.get(kind);
    if (server === undefined) {
      server = starts[kind]();
      this.#started.set(kind, server);
    }
    return server;
  }
}

/** The superuser's connection string of the run's MySQL or MariaDB, which is started if it is the first to ask. */
export async function serverUrl(kind: MysqlServerKind): Promise<string> {
  // Imported here, so that the kit also loads outside a test run.
  const { inject } = await import('vitest');
  const address = inject('serversOnDemand') as string | undefined;
  if (address === undefined) {
    throw new Error(
      'No serversOnDemand was provided. Add @strandline/test-kit/global-setup to globalSetup in the vitest config.',
    );
  }
  const answer = await fetch(`${address}${kind}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`There is no ${kind} for the run. ${text}`);
  return text;
}
