import type { ServerProcess } from '../origins/server-process.js';

/** How a Redis is wanted. Any of these asks for a server of its own; `{}` takes the environment's too. */
export interface RedisOptions {
  /** Arguments of redis-server after the defaults, as in `['--appendfsync', 'always']`. */
  readonly args?: readonly string[];
  /** Port on 127.0.0.1; a free one by default. */
  readonly port?: number;
  /** True for a server that the test may stop, pause and kill: never the one that the environment names. */
  readonly exclusive?: boolean;
  /** Only this way to get a server; the first that applies by default. */
  readonly origin?: ServerProcess['origin'];
}

/** Offsets must outlive a killed Redis, as in production, so it keeps an append-only file; snapshots are off. */
export const defaultArguments: readonly string[] = [
  ...['--save', ''],
  ...['--appendonly', 'yes'],
  ...['--appendfsync', 'everysec'],
];
