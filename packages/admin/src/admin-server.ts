import { createAdaptorServer } from '@hono/node-server';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Hono } from 'hono';
import { urlOf, type Address } from './address.js';
import { adminError, type AdminError } from './errors.js';
import { healthRoutes } from './health/routes.js';
import { HealthWatch, type Watched } from './health/watch.js';

export interface AdminOptions {
  readonly pipelines: readonly Watched[];
  readonly address: Address;
  /** Milliseconds with work and without progress from which on `/healthz` fails. Default 60,000. */
  readonly stalledAfter?: number;
}

/** A minute: longer than a retry's delay or a handler usually takes, shorter than it takes to be missed. */
const STALLED_AFTER = 60_000;

/** Answers over HTTP how the pipelines of this process are. */
export class AdminServer implements AsyncDisposable {
  readonly #address: Address;
  readonly #watch: HealthWatch;
  readonly #server: Server;

  constructor({ pipelines, address, stalledAfter = STALLED_AFTER }: AdminOptions) {
    this.#address = address;
    this.#watch = new HealthWatch(pipelines, stalledAfter);
    const app = new Hono();
    app.route(
      '/',
      healthRoutes(() => this.#watch.health()),
    );
    this.#server = createAdaptorServer({ fetch: app.fetch }) as Server;
  }

  /** Resolves with the URL once it listens. Throws `ADMIN_LISTEN`. */
  async start(): Promise<string> {
    const { host, port } = this.#address;
    this.#server.listen(port, host);
    try {
      await once(this.#server, 'listening');
    } catch (cause) {
      throw cannotListen(this.#address, cause);
    }
    this.#watch.start();
    // Nobody waits for it: the process ends with its pipelines.
    this.#server.unref();
    return urlOf({ host, port: (this.#server.address() as AddressInfo).port });
  }

  /** Idempotent. Who is being answered is cut off. */
  async stop(): Promise<void> {
    this.#watch.stop();
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Take another port, or end the process that has it.',
  EADDRNOTAVAIL: 'Name an address of this machine, or 0.0.0.0 for all of them.',
  EACCES: 'Take a port from 1024 on.',
  ENOTFOUND: 'Write the address in numbers, such as 127.0.0.1.',
};

function cannotListen(address: Address, cause: unknown): AdminError {
  const { code } = cause as NodeJS.ErrnoException;
  return adminError(
    'ADMIN_LISTEN',
    `${urlOf(address)} can not be listened on${code === undefined ? '' : `: ${code}`}.`,
    REMEDIES[code ?? ''] ?? 'Name another address.',
    { cause },
  );
}
