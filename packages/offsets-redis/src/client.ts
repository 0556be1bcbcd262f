import { Cluster, Redis, type ClusterOptions, type RedisOptions } from 'ioredis';
import type { Endpoint } from './endpoint.js';
import type { ValidOptions } from './options.js';
import { answerTimeout, disconnectTimeout } from './patience.js';
import { QuietSentinelConnector } from './sentinel-connector.js';

/** A server, or one of a cluster. */
export interface RedisNode {
  scan(
    cursor: string,
    match: 'MATCH',
    pattern: string,
    count: 'COUNT',
    keys: number,
  ): Promise<[cursor: string, keys: string[]]>;
}

/** What the store needs of ioredis; a server, sentinels and a cluster all offer it. */
export interface RedisClient extends RedisNode {
  readonly status: string;
  connect(): Promise<void>;
  disconnect(): void;
  on(event: string, listener: (error: Error) => void): unknown;
  once(event: string, listener: () => void): unknown;
  hgetall(key: string): Promise<Record<string, string>>;
  evalsha(sha: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(lua: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>;
  pipeline(commands: unknown[][]): { exec(): Promise<[Error | null, unknown][] | null> };
}

/** Makes an ioredis client that is not yet connected. */
export function createClient(endpoint: Endpoint, options: ValidOptions): RedisClient {
  const shared = {
    // Listens to the sentinels: a primary that was replaced goes on taking writes, all lost later, until they
    // have told it so, which can take 20 s.
    failoverDetector: true,
    sentinelReconnectStrategy: reconnectDelay,
    sentinelCommandTimeout: options.commandTimeout,
    ...endpoint.connection,
    lazyConnect: true,
    replyMapping: 'legacy',
    // Nothing is kept and sent later behind our back: a command runs now, on this connection, or it fails. With
    // 0, what waits for an answer is rejected when the connection breaks; ioredis would leave it pending.
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    connectTimeout: options.connectTimeout,
    disconnectTimeout,
    // A half-open connection looks healthy for as long as TCP goes on sending again, and a stopped server accepts
    // connections and never greets. This ends both. It comes after our own deadline, whose message is better.
    socketTimeout: answerTimeout(options) + 100,
    maxLoadingRetryTime: 500,
  } satisfies RedisOptions;
  if (endpoint.nodes === undefined) {
    const connector = shared.sentinels === undefined ? {} : { Connector: QuietSentinelConnector };
    return new Redis({ ...shared, ...connector, retryStrategy: reconnectDelay, enableOfflineQueue: false });
  }
  const cluster = {
    ...options.cluster?.options,
    redisOptions: shared,
    lazyConnect: true,
    enableOfflineQueue: false,
    scaleReads: 'master',
    // Both would send a command again that may have run already.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    clusterRetryStrategy: reconnectDelay,
  } satisfies ClusterOptions;
  return new Cluster([...endpoint.nodes], cluster);
}

/**
 * Resolves once the nodes of a cluster can be used, or have said that they can't, within `patience` milliseconds. Without
 * a queue ioredis refuses the second command to a node that it connects to because of the first one.
 */
export async function nodesConnected(client: RedisClient, patience: number): Promise<void> {
  if (client instanceof Cluster)
    await Promise.all(client.nodes('master').map((node) => nodeConnected(node, patience)));
}

/** Where keys are at the moment: the one server, or all primaries of a cluster, for a key is only on its own. */
export interface Keyspace {
  readonly nodes: readonly RedisNode[];
  /** The same while no hash slot has another node. */
  readonly layout: string;
}

/** A cluster is asked for its nodes: ioredis hears of a new one only once a key that it uses has moved there. */
export async function keyspaceOf(client: RedisClient, patience: number): Promise<Keyspace> {
  if (!(client instanceof Cluster)) return { nodes: [client], layout: '' };
  await new Promise<void>((resolve, reject) => {
    client.refreshSlotsCache((error) => {
      if (error) reject(error);
      else resolve();
    });
  });
  await nodesConnected(client, patience);
  return { nodes: client.nodes('master'), layout: client.slots.map(([primary]) => primary).join() };
}

function nodeConnected(node: Redis, patience: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      node.off('ready', done);
      node.off('end', done);
      resolve();
    };
    const timer = setTimeout(done, patience);
    node.once('ready', done);
    node.once('end', done);
    if (node.status === 'ready' || node.status === 'end') done();
    else if (node.status === 'wait') node.connect().catch(() => undefined); // told by the events
  });
}

/** 50 ms, doubled up to 2 s, and up to a quarter more so that many processes do not come back as one. */
function reconnectDelay(attempt: number): number {
  const delay = Math.min(50 * 2 ** Math.min(attempt - 1, 10), 2_000);
  return Math.round(delay * (1 + Math.random() / 4));
}
