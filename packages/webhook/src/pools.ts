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

interface Kept {
  readonly pool: Undici.Pool;
  /** Requests of ours, waiting ones among them. */
  users: number;
}

/** Connections that are kept, by origin; the origins that were not used for longest go first. */
export class Pools {
  readonly #options: PoolOptions;
  /** Least recently used first. */
  readonly #kept = new Map<string, Kept>();
  #undici: Promise<typeof Undici> | null = null;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Resolves or rejects as the work does, which begins in the turn in which it gets the pool. */
  async use<T>(origin: string, work: (pool: Undici.Pool) => Promise<T>): Promise<T> {
    this.#undici ??= import('undici');
    const undici = await this.#undici;
    const kept = this.#kept.get(origin) ?? { pool: this.#open(undici, origin), users: 0 };
    this.#kept.delete(origin);
    this.#kept.set(origin, kept);
    kept.users += 1;
    this.#closeOldest();
    try {
      return await work(kept.pool);
    } finally {
      kept.users -= 1;
      this.#closeOldest();
    }
  }

  /** @param gently lets requests that are under way end. Later requests open connections anew. */
  async close(gently: boolean): Promise<void> {
    const all = [...this.#kept.values()];
    this.#kept.clear();
    await Promise.allSettled(all.map(({ pool }) => (gently ? pool.close() : pool.destroy())));
  }

  /** What is in use is not closed, so there are as many as are in use at once, if that is more than are kept. */
  #closeOldest(): void {
    for (const [origin, { pool, users }] of this.#kept) {
      if (this.#kept.size <= MOST_ORIGINS) return;
      if (users > 0) continue;
      this.#kept.delete(origin);
      // That it has closed concerns nobody.
      pool.close().catch(() => undefined);
    }
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
