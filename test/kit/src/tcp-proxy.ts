import { createServer, connect, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { Wire } from './tcp-wire.js';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** What the client said first tells what kind of session it is; at MySQL, its last command. */
  isReplication: boolean;
  frozen: boolean;
  readonly wires: Wire[];
}

export type SessionKind = 'replication' | 'sql' | 'all';

/**
 * A network between a client and a Postgres, MySQL or Redis server that can break in three ways: dead, where connections
 * stay open and nothing comes through, as when a firewall forgets them (`freeze`); cut, where both ends hear at once that
 * they are gone, and nobody gets through (`cut`); and slow (`delay`).
 */
export class TcpProxy implements AsyncDisposable {
  readonly #target: URL;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #frozenFromNowOn = false;
  #isCut = false;
  #delayMs = 0;
  #accepted = 0;
  #doomed: { connection: number; readonly chunks: number } | null = null;

  static async start(targetUrl: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(targetUrl));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((client) => {
      this.#accept(client);
    });
  }

  /** The target's connection string, through the proxy. */
  get url(): string {
    const url = new URL(this.#target);
    const address = this.#server.address();
    url.hostname = '127.0.0.1';
    url.port = String(typeof address === 'object' ? address?.port : '');
    return url.href;
  }

  /** Connections so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Forwards nothing more on the connections of this kind that are open now; newer ones work. */
  freeze(kind: SessionKind = 'all'): void {
    for (const pair of this.#pairs) {
      if (kind !== 'all' && pair.isReplication !== (kind === 'replication')) continue;
      pair.frozen = true;
      pair.client.pause();
      pair.server.pause();
    }
  }

  /** Accepts new connections and forwards nothing on them, until `thaw`. */
  freezeNewOnes(): void {
    this.#frozenFromNowOn = true;
  }

  /** New connections work again; those that are frozen stay so. */
  thaw(): void {
    this.#frozenFromNowOn = false;
  }

  /** Ends all connections, and refuses new ones until `mend`. What was on the way is lost. */
  cut(): void {
    this.#isCut = true;
    for (const pair of this.#pairs) this.#end(pair);
  }

  /** After a `cut` new connections work again. */
  mend(): void {
    this.#isCut = false;
  }

  /** From now on everything arrives so many milliseconds later, in both directions, on all connections; 0 ends it. */
  delay(milliseconds: number): void {
    this.#delayMs = milliseconds;
  }

  /** The n-th connection from now on dies after so many chunks from the server; all others work. */
  freezeLater(doomed: { readonly connection: number; readonly chunks: number }): void {
    this.#doomed = { ...doomed };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pair of this.#pairs) this.#end(pair);
    this.#server.close();
    await once(this.#server, 'close');
  }

  #end(pair: Pair): void {
    this.#pairs.delete(pair);
    for (const wire of pair.wires) wire.cut();
    pair.client.destroy();
    pair.server.destroy();
  }

  #accept(client: Socket): void {
    if (this.#isCut) {
      client.on('error', () => undefined);
      client.resetAndDestroy();
      return;
    }
    this.#accepted += 1;
    const server = connect(Number(this.#target.port || 5432), this.#target.hostname);
    const pair: Pair = { client, server, isReplication: false, frozen: this.#frozenFromNowOn, wires: [] };
    this.#pairs.add(pair);
    let chunksLeft = this.#chunksOfNext();
    server.on('data', () => {
      chunksLeft -= 1;
      if (chunksLeft < 0) pair.frozen = true;
    });
    client.once('data', (startup: Buffer) => {
      pair.isReplication ||= startup.includes('replication\0database');
    });
    client.on('data', (command: Buffer) => {
      pair.isReplication ||= isBinlogDump(command);
    });
    const forward = (from: Socket, to: Socket): void => {
      const wire = new Wire(() => this.#delayMs);
      pair.wires.push(wire);
      from.on('data', (chunk: Buffer) => {
        wire.carry(() => {
          // What was read before it froze is lost with the rest.
          if (pair.frozen || to.destroyed) return;
          if (!to.write(chunk)) from.pause();
        });
      });
      to.on('drain', () => {
        if (!pair.frozen) from.resume();
      });
      // Of a dead connection neither end hears that the other is gone.
      const end = (): void => {
        if (pair.frozen) return;
        this.#pairs.delete(pair);
        to.destroy();
      };
      from.on('error', () => {
        wire.carry(end);
      });
      from.on('close', () => {
        wire.carry(end);
      });
    };
    forward(client, server);
    forward(server, client);
    if (pair.frozen) this.freeze();
  }

  /** How much the connection that comes now may hear from the server. */
  #chunksOfNext(): number {
    const doomed = this.#doomed;
    if (doomed === null) return Infinity;
    doomed.connection -= 1;
    if (doomed.connection > 0) return Infinity;
    this.#doomed = null;
    return doomed.chunks;
  }
}

/** COM_BINLOG_DUMP and COM_BINLOG_DUMP_GTID, after four bytes of length and number. */
function isBinlogDump(packet: Buffer): boolean {
  return (
    packet.length > 4 &&
    packet.readUIntLE(0, 3) === packet.length - 4 &&
    [0x12, 0x1e].includes(packet[4] ?? 0)
  );
}
