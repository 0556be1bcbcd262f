import { createAdaptorServer } from '@hono/node-server';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bodyLimit } from 'hono/body-limit';
import { Hono } from 'hono';
import type { Finding, Logger } from '@strandline/core';
import type { Pipeline } from '@strandline/pipeline';
import { isLoopback, urlOf, type Address } from './address.js';
import { createApi, nowhere, problemsTo } from './api/api.js';
import type { ApiParts } from './api/parts.js';
import { pipelineView } from './api/pipelines.js';
import { AuditLog } from './audit/audit-log.js';
import { adminError, type AdminError } from './errors.js';
import { checkToken, type AccessRules } from './guard/access.js';
import { guard } from './guard/guard.js';
import { healthRoutes } from './health/routes.js';
import { HealthWatch } from './health/watch.js';
import { History } from './live/history.js';
import { LiveStream } from './live/stream.js';
import type { Page } from './page/page.js';
import { pageRoutes } from './page/routes.js';

export interface AdminOptions {
  readonly pipelines: readonly Pipeline[];
  readonly address: Address;
  readonly log: Logger;
  /**
   * Asked for by everything but health and metrics. Without one nothing but these is told beyond this machine. Printable
   * ASCII without spaces, else the constructor throws `ADMIN_CONFIG`.
   */
  readonly token?: string | undefined;
  /** Nothing can be changed. */
  readonly readOnly?: boolean;
  /** Milliseconds with work and without progress from which on `/healthz` fails. Default 60,000. */
  readonly stalledAfter?: number;
  /** What a scrape of `/metrics` is answered. */
  readonly metrics?: { render(): Promise<{ readonly contentType: string; readonly body: string }> };
  /** What `strandline doctor` finds of a pipeline. */
  readonly examine?: (pipeline: Pipeline) => Promise<readonly Finding[]>;
  /** The console; none is served without. */
  readonly page?: Page;
}

/** A minute: longer than a retry's delay or a handler usually takes, shorter than it takes to be missed. */
const STALLED_AFTER = 60_000;
/** Bytes: keys and positions are the largest that a request carries, and each of their characters may be escaped. */
const LARGEST_BODY = 1_024 * 1_024;
/** … and in an address, where each takes up to nine. */
const LARGEST_HEAD = 1_024 * 1_024;

/** Answers over HTTP how the pipelines of this process are, and lets an operator do something about it. */
export class AdminServer implements AsyncDisposable {
  /** Beyond this machine nothing but health is told to who can't prove who they are. */
  readonly hasApi: boolean;
  readonly #address: Address;
  readonly #log: Logger;
  readonly #watch: HealthWatch;
  readonly #history: History;
  readonly #live: LiveStream;
  readonly #server: Server;

  constructor(options: AdminOptions) {
    const { pipelines, address, log, stalledAfter = STALLED_AFTER, examine = null } = options;
    this.#address = address;
    this.#log = log;
    if (options.token !== undefined) checkToken(options.token);
    this.hasApi = isLoopback(address) || options.token !== undefined;
    this.#watch = new HealthWatch(pipelines, stalledAfter);
    const health = (): ReturnType<HealthWatch['health']> => this.#watch.health();
    this.#history = new History(pipelines, log);
    const history = this.#history;
    const parts: ApiParts = { pipelines, health, history, audit: new AuditLog(), log, examine };
    this.#live = new LiveStream(
      () => ({
        at: new Date().toISOString(),
        pipelines: pipelines.map((pipeline) => pipelineView(pipeline, parts)),
      }),
      log,
    );
    this.#server = createAdaptorServer({
      fetch: this.#app(options, parts).fetch,
      serverOptions: { maxHeaderSize: LARGEST_HEAD },
    }) as Server;
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
    // Such as EMFILE for one caller. Unheard, it would end the process, and with it the pipelines.
    this.#server.on('error', (error) => {
      this.#log.error({ err: error }, 'the admin server failed, and goes on');
    });
    this.#watch.start();
    if (this.hasApi) this.#history.start();
    // Nobody waits for it: the process ends with its pipelines.
    this.#server.unref();
    return urlOf({ host, port: (this.#server.address() as AddressInfo).port });
  }

  /** Idempotent. Who is being answered is cut off. */
  async stop(): Promise<void> {
    this.#watch.stop();
    this.#history.stop();
    this.#live.stop();
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #app({ token, readOnly = false, metrics, page }: AdminOptions, parts: ApiParts): Hono {
    const app = new Hono();
    app.notFound((context) => context.json(nowhere(), 404));
    app.onError(problemsTo(this.#log));
    app.route('/', healthRoutes(parts.health));
    // Like health they hold neither keys nor payloads: who scrapes needs no token.
    if (metrics !== undefined) {
      app.get('/metrics', async (context) => {
        const { contentType, body } = await metrics.render();
        return context.body(body, 200, { 'content-type': contentType, 'cache-control': 'no-store' });
      });
    }
    if (!this.hasApi) return app;
    if (page !== undefined) app.route('/', pageRoutes(page));
    const loopback = isLoopback(this.#address);
    const rules: AccessRules = { loopback, token: token ?? null, readOnly };
    app.use('/api/*', guard(rules, this.#log));
    app.use(
      '/api/*',
      bodyLimit({
        maxSize: LARGEST_BODY,
        onError: () => {
          throw tooLarge();
        },
      }),
    );
    app.get('/api/v1/live', (context) => this.#live.answer(context));
    app.route('/api/v1', createApi(parts, readOnly));
    return app;
  }
}

function tooLarge(): AdminError {
  return adminError(
    'ADMIN_TOO_LARGE',
    `The body has more than ${String(LARGEST_BODY)} bytes.`,
    'Nothing that the API takes has so many: see /api/v1/openapi.json.',
  );
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
