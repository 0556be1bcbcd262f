import type * as Undici from 'undici';
import { publicLookup, refusingPrivateAddresses, type TlsSettings } from './connector.js';

/** Origins whose connections are kept. A rule for the URL may name any number of them. */
const MOST_ORIGINS = 100;

export interface PoolOptions {
  /** Per origin; null for as many as there are requests at once. */
  readonly connections: number | null;
  /** Milliseconds. */
  readonly connectTimeout: number;
  readonly refusePrivateAddresses: boolean;
  readonly tls: TlsSettings;
}

/** Connections that are kept, by origin; the origins that were not used for longest go first. */
export class Pools {
  readonly #options: PoolOptions;
  /** Least recently used first. */
  readonly #pools = new Map<string, Undici.Pool>();
  #undici: Promise<typeof Undici> | null = null;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** To be used at once: it may be let go of when another origin is asked for. */
  async of(origin: string): Promise<Undici.Pool> {
    this.#undici ??= import('undici');
    const undici = await this.#undici;
    const pool = this.#pools.get(origin) ?? this.#open(undici, origin);
    this.#pools.delete(origin);
    this.#pools.set(origin, pool);
    for (const [oldest, unused] of this.#pools) {
      if (this.#pools.size <= MOST_ORIGINS) break;
      this.#pools.delete(oldest);
      // Its requests that are under way end in peace. That it has closed concerns nobody.
      unused.close().catch(() => undefined);
    }
    return pool;
  }

  /** @param gently lets requests that are under way end. Later requests open connections anew. */
  async close(gently: boolean): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.allSettled(pools.map((pool) => (gently ? pool.close() : pool.destroy())));
  }

  #open({ Pool, buildConnector }: typeof Undici, origin: string): Undici.Pool {
    const { connections, connectTimeout, refusePrivateAddresses, tls } = this.#options;
    const connect = buildConnector({
      ...tls,
      timeout: connectTimeout,
      ...(refusePrivateAddresses ? { lookup: publicLookup } : {}),
    });
    return new Pool(origin, {
      connections,
      // A second request behind one that has no answer yet would be of another key, and would wait for it.
      pipelining: 1,
      // The exchange has a time-out of its own, which is exact.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: refusePrivateAddresses ? refusingPrivateAddresses(connect) : connect,
    });
  }
}
