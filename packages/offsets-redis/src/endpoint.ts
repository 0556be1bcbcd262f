import { configError } from './errors.js';
import type { RedisConnection, ValidOptions } from './options.js';
import { connectionFromUrl } from './url.js';

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Where Redis is: in full for ioredis, without credentials for messages. */
export interface Endpoint {
  /** Such as `redis://host:6379`. */
  readonly name: string;
  /** The server or the sentinels; of a cluster, what all nodes share. */
  readonly connection: RedisConnection;
  /** Where to ask for the nodes of a cluster. */
  readonly nodes: readonly Address[] | undefined;
  /** Texts that no message may repeat, even where the server says them back. */
  readonly secrets: readonly string[];
}

export function endpointOf(options: ValidOptions): Endpoint {
  const given = options.cluster?.nodes.map(nodeConnection);
  const nodes = given?.map(({ host, port }) => ({ host: host ?? 'localhost', port: port ?? 6379 }));
  const said = given === undefined ? fromUrl(options) : sharedByNodes(given);
  const { tls } = options.connection; // says more than a rediss:// does
  const connection = { ...options.connection, ...said, ...(tls === undefined ? {} : { tls }) };
  const secrets = [connection.password, connection.sentinelPassword];
  return {
    name: nodes === undefined ? nameOf(connection) : nameOfCluster(connection, nodes),
    connection,
    nodes,
    secrets: secrets.filter((text): text is string => typeof text === 'string' && text !== ''),
  };
}

function fromUrl({ url }: ValidOptions): RedisConnection {
  return url === undefined ? {} : connectionFromUrl(url);
}

/** Most nodes are not named but found, and need the same credentials. */
function sharedByNodes([first]: readonly RedisConnection[]): RedisConnection {
  const { username, password, tls } = first ?? {};
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls === undefined ? {} : { tls }),
  };
}

function nodeConnection(node: unknown, index: number): RedisConnection {
  const field = `cluster.nodes.${String(index)}`;
  if (typeof node === 'number') return { host: '127.0.0.1', port: node };
  if (typeof node === 'string') {
    return connectionFromUrl(node.includes('://') ? node : `redis://${node}`, field);
  }
  if (typeof node === 'object' && node !== null) return node;
  throw configError(`redisOffsets.${field} must be a URL, host:port, a port or { host, port }.`);
}

function nameOf(connection: RedisConnection): string {
  const database = connection.db ? `/${String(connection.db)}` : '';
  if (connection.sentinels !== undefined) {
    const sentinels = connection.sentinels.map(({ host, port }) => address(host, port ?? 26379)).join(',');
    return `${scheme(connection)}-sentinel://${sentinels}/${connection.name ?? ''}${database}`;
  }
  if (connection.path !== undefined) return `redis+unix://${connection.path}${database.replace('/', '?db=')}`;
  return `${scheme(connection)}://${address(connection.host, connection.port)}${database}`;
}

function nameOfCluster(connection: RedisConnection, nodes: readonly Address[]): string {
  return `${scheme(connection)}-cluster://${nodes.map(({ host, port }) => address(host, port)).join(',')}`;
}

function scheme(connection: RedisConnection): string {
  return connection.tls === undefined ? 'redis' : 'rediss';
}

function address(host = 'localhost', port = 6379): string {
  return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}
