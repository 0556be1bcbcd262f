import type { ClusterNode, ClusterOptions, RedisOptions } from 'ioredis';

/**
 * What this store decides by itself. Most of these would let a command run twice, run late, run on a replica
 * or wait for ever, so they are refused and not merely ignored.
 */
export const reservedConnectionOptions = [
  ...(['autoResendUnfulfilledCommands', 'autoResubscribe', 'enableOfflineQueue', 'lazyConnect'] as const),
  ...(['maxRetriesPerRequest', 'reconnectOnError', 'retryStrategy', 'maxLoadingRetryTime'] as const),
  ...(['commandTimeout', 'connectTimeout', 'disconnectTimeout', 'socketTimeout', 'blockingTimeout'] as const),
  ...(['keyPrefix', 'readOnly', 'role', 'monitor', 'scripts', 'stringNumbers', 'replyMapping'] as const),
  ...(['enableAutoPipelining', 'Connector', 'himportFieldsets'] as const),
] as const;

export const reservedClusterOptions = [
  ...([
    'clusterRetryStrategy',
    'enableOfflineQueue',
    'enableAutoPipelining',
    'keyPrefix',
    'lazyConnect',
  ] as const),
  ...(['redisOptions', 'retryDelayOnClusterDown', 'retryDelayOnFailover', 'scaleReads', 'scripts'] as const),
  ...(['himportFieldsets'] as const),
] as const;

/** What ioredis takes for a server (`host`, `port`, `path`, `tls`, …) or for sentinels (`sentinels`, `name`, …). */
export type RedisConnection = Omit<RedisOptions, (typeof reservedConnectionOptions)[number]>;

/** A Redis Cluster: where to ask first, and what ioredis takes for the cluster as a whole. */
export interface RedisCluster {
  readonly nodes: readonly ClusterNode[];
  readonly options?: Omit<ClusterOptions, (typeof reservedClusterOptions)[number]>;
}

export interface RedisOffsetsOptions {
  /** `redis://[user:password@]host[:port][/db]`, or `rediss://…` for TLS. */
  readonly url?: string;
  /** Used for what `url` does not say, for sentinels, and for each node of a cluster. */
  readonly connection?: RedisConnection;
  readonly cluster?: RedisCluster;
  /** The first part of each key. Default `strandline`: `strandline:{<pipeline>}:offset`, `…:bookmarks`, `…:instances`. */
  readonly keyPrefix?: string;
  /** How long `load` and `claim` wait for a connection, in milliseconds. Default 5,000. */
  readonly connectTimeout?: number;
  /** How long an answer may take, and how long `commit` waits for a connection, in ms. Default 2,000. */
  readonly commandTimeout?: number;
  /** Save only when this many replicas have it too (Redis `WAIT`), each time within `timeout` ms. */
  readonly replicas?: { readonly count: number; readonly timeout: number };
}

export interface ValidOptions {
  readonly url: string | undefined;
  readonly connection: RedisConnection;
  readonly cluster: RedisCluster | undefined;
  readonly keyPrefix: string;
  readonly connectTimeout: number;
  readonly commandTimeout: number;
  readonly replicas: { readonly count: number; readonly timeout: number } | undefined;
}
