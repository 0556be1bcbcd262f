import type * as Client from './client.js';
import type { Endpoint } from './endpoint.js';
import { closedError, OffsetsError } from './errors.js';
import { explain, reasonOf } from './failures.js';
import type { ValidOptions } from './options.js';
import { disconnectTimeout } from './patience.js';

type RedisClient = Client.RedisClient;

interface Waiter {
  resolve(client: RedisClient): void;
  reject(error: OffsetsError): void;
}

/**
 * The ioredis client. It is made at the first use, and the library is loaded with it: whoever imports this package and
 * uses another store does not pay for it.
 *
 *     none ──ready()──► connecting ──► ready ◄──► away (ioredis reconnects in the background)
 *       ▲                   │            │
 *       ├── refused, or no first connection in time: a start that failed leaves nothing running behind it
 *       └────────────────────────────────┴── abandon(): a command was not answered in time, or by a replica
 *
 *     any ──close()──► closed
 */
export class Connection {
  readonly #endpoint: Endpoint;
  readonly #options: ValidOptions;
  readonly #waiters = new Set<Waiter>();
  readonly #leaving = new Set<Promise<void>>();
  #loading: Promise<typeof Client> | undefined;
  #client: RedisClient | undefined;
  /** The client takes commands: of a cluster that includes the nodes. */
  #isReady = false;
  /** Since the store was made, not of this client: later on it is the background that reconnects. */
  #wasReady = false;
  #lastTrouble: Error | undefined;
  #closed: Promise<void> | undefined;

  constructor(endpoint: Endpoint, options: ValidOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /** What the connection said last of why it is away. */
  get lastTrouble(): Error | undefined {
    return this.#lastTrouble;
  }

  /**
   * A client that takes commands now.
   *
   * @throws OffsetsError when there is none within `patience` milliseconds, or at once when the server refuses us.
   */
  async ready(patience: number): Promise<RedisClient> {
    const library = await (this.#loading ??= import('./client.js'));
    if (this.isClosed) throw closedError(this.#endpoint.name);
    const client = (this.#client ??= this.#open(library));
    if (this.#isReady && client.status === 'ready') return client;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
      };
      const waiter: Waiter = {
        resolve: (ready) => {
          leave();
          resolve(ready);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      const timer = setTimeout(() => {
        waiter.reject(this.#unreachable(patience));
        if (!this.#wasReady && this.#waiters.size === 0) this.#drop(client);
      }, patience);
      this.#waiters.add(waiter);
    });
  }

  /** All that has keys, as of now. */
  async keyspace(client: RedisClient): Promise<Client.Keyspace> {
    const { keyspaceOf } = await (this.#loading ??= import('./client.js'));
    return keyspaceOf(client, this.#options.commandTimeout);
  }

  /**
   * Gives a client up that did not answer, or whose node is no primary. A connection may be half open, so what
   * comes next must not be sent on it: it would wait behind what is lost. TCP finds out after many minutes.
   */
  abandon(client: RedisClient): void {
    if (client === this.#client) this.#drop(client);
  }

  /** Idempotent. Takes a fraction of a second even when Redis is away; leaves no socket and no timer. */
  close(): Promise<void> {
    return (this.#closed ??= this.#leave());
  }

  async #leave(): Promise<void> {
    this.#rejectWaiters(closedError(this.#endpoint.name));
    if (this.#client !== undefined) this.#drop(this.#client);
    await Promise.all(this.#leaving);
  }

  #open({ createClient, nodesConnected }: typeof Client): RedisClient {
    const client = createClient(this.#endpoint, this.#options);
    this.#lastTrouble = undefined;
    this.#isReady = false;
    client.on('ready', () => {
      // Less than a first connection may take: a node that hangs must not hold up those that don't.
      const patience = Math.min(this.#options.connectTimeout / 2, this.#options.commandTimeout);
      void nodesConnected(client, patience).then(() => {
        this.#onReady(client);
      });
    });
    client.on('close', () => {
      if (client === this.#client) this.#isReady = false;
    });
    client.on('end', () => {
      this.#onEnd(client);
    });
    // A cluster reports the troubles of its nodes apart from its own.
    for (const event of ['error', 'node error']) {
      client.on(event, (error) => {
        this.#onTrouble(client, error);
      });
    }
    client.connect().catch(() => undefined); // reported by the events above, with the reason
    return client;
  }

  #onReady(client: RedisClient): void {
    if (client !== this.#client || client.status !== 'ready') return;
    this.#isReady = true;
    this.#wasReady = true;
    this.#lastTrouble = undefined;
    for (const waiter of [...this.#waiters]) waiter.resolve(client);
  }

  /** ioredis has given up, as it does when the options can't be used at all. The next use starts anew. */
  #onEnd(client: RedisClient): void {
    if (client !== this.#client) return;
    this.#client = undefined;
    this.#rejectWaiters(explain(this.#lastTrouble ?? new Error('the connection ended'), this.#endpoint));
  }

  #onTrouble(client: RedisClient, error: Error): void {
    if (client !== this.#client) return;
    this.#lastTrouble = error;
    const failure = explain(error, this.#endpoint);
    if (failure.code !== 'OFFSETS_AUTH' && failure.code !== 'OFFSETS_CONFIG') return;
    this.#rejectWaiters(failure);
    // ioredis only mentions that SELECT failed, and goes on in database 0: no command may run there.
    if (failure.code === 'OFFSETS_CONFIG' || !this.#wasReady) this.#drop(client);
  }

  #rejectWaiters(error: OffsetsError): void {
    for (const waiter of [...this.#waiters]) waiter.reject(error);
  }

  #drop(client: RedisClient): void {
    if (this.#client === client) this.#client = undefined;
    const left = disconnect(client).finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }

  #unreachable(patience: number): OffsetsError {
    const { name } = this.#endpoint;
    const trouble = this.#lastTrouble ?? new Error('it did not answer');
    const failure = explain(trouble, this.#endpoint);
    if (failure.code !== 'OFFSETS_UNAVAILABLE') return failure;
    return new OffsetsError(
      failure.code,
      `No connection to ${name} within ${String(patience)} ms: ${reasonOf(trouble, this.#endpoint)}.`,
      failure.remedy,
      {
        cause: failure.cause,
      },
    );
  }
}

/**
 * Waits for the end, but not for ever: ioredis does not report it while it waits to reconnect, and destroys a
 * socket that the server leaves open after `disconnectTimeout`.
 */
function disconnect(client: RedisClient): Promise<void> {
  return new Promise((resolve) => {
    if (client.status === 'end') {
      resolve();
      return;
    }
    const timer = setTimeout(resolve, disconnectTimeout + 50);
    client.once('end', () => {
      clearTimeout(timer);
      resolve();
    });
    client.disconnect();
  });
}
