import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';

/** One request as it came. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The n-th connection, from 0. */
  readonly connection: number;
}

/** What is done about a request; the default answers 204. */
export type Reaction = (received: Received, response: ServerResponse) => void;

/** A server that keeps what it got, and answers as it is told. */
export class TestReceiver implements AsyncDisposable {
  static async listen(tls?: ServerOptions): Promise<TestReceiver> {
    const receiver = new TestReceiver(tls);
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  readonly received: Received[] = [];
  /** Connections that have ended. */
  ended = 0;
  react: Reaction = (_, response) => response.writeHead(204).end();
  readonly #server: Server;
  readonly #scheme: 'http' | 'https';
  readonly #connections: Socket[] = [];

  private constructor(tls: ServerOptions | undefined) {
    this.#scheme = tls === undefined ? 'http' : 'https';
    const listener: RequestListener = (request, response) => {
      // A request that is cut off is none.
      text(request).then(
        (body) => {
          const { url: path = '', headers, socket } = request;
          const received = { path, headers, body, connection: this.#connections.indexOf(socket) };
          this.received.push(received);
          this.react(received, response);
        },
        () => undefined,
      );
    };
    this.#server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
    // Its time-outs are no part of the tests.
    this.#server.keepAliveTimeout = 60_000;
    this.#server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
      this.#connections.push(socket);
      socket.on('close', () => (this.ended += 1)).on('error', () => undefined);
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.#connections.length;
  }

  /** Certificates are for a name. A name may be tried at two addresses, which is more connections than one. */
  url(path = '/hook', host = this.#scheme === 'https' ? 'localhost' : '127.0.0.1'): string {
    return `${this.#scheme}://${host}:${String(this.port)}${path}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
