import { startRedis, type RedisServer } from '@strandline/servers';
import { Cluster, Redis } from 'ioredis';
import { waitUntil } from './wait-until.js';

/** Hash slots of a cluster. */
const SLOTS = 16_384;

/** A Redis Cluster of three primaries of one test file's own. */
export interface TestRedisCluster extends AsyncDisposable {
  /** A client for looking and setting up. */
  readonly client: Cluster;
  /** Where it is, as options of `redisOffsets`. */
  readonly connection: {
    readonly cluster: { readonly nodes: { readonly host: string; readonly port: number }[] };
    readonly connection: { readonly password: string };
  };
}

/**
 * Three servers of this machine that have met and share the slots. Not in containers: nodes talk to each other at the
 * ports by which clients reach them.
 */
export async function testRedisCluster(): Promise<TestRedisCluster> {
  const args = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'];
  const starting = [1, 2, 3].map(() => startRedis({ exclusive: true, origin: 'local', args }));
  const started = await Promise.allSettled(starting);
  const servers = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  try {
    const failed = started.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return await joined(servers);
  } catch (error) {
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    throw error;
  }
}

async function joined(servers: readonly RedisServer[]): Promise<TestRedisCluster> {
  const password = new URL(servers[0]?.url ?? '').password;
  const admins = servers.map(({ url }) => new Redis(url));
  const client = new Cluster(
    servers.map(({ host, port }) => ({ host, port })),
    { redisOptions: { password } },
  );
  client.on('error', () => undefined); // whoever waits for it below is told
  try {
    const share = Math.ceil(SLOTS / admins.length);
    for (const [index, admin] of admins.entries()) {
      await admin.config('SET', 'requirepass', password); // clients of a cluster use one for all
      await admin.cluster('ADDSLOTSRANGE', index * share, Math.min((index + 1) * share, SLOTS) - 1);
    }
    for (const { host, port } of servers.slice(1)) await admins[0]?.cluster('MEET', host, port);
    await waitUntil('every node knows that the cluster is up', async () => {
      const infos = await Promise.all(admins.map((admin) => admin.cluster('INFO')));
      return infos.every((info) => info.includes('cluster_state:ok') && info.includes('cluster_size:3'));
    });
  } catch (error) {
    client.disconnect();
    throw error;
  } finally {
    for (const admin of admins) admin.disconnect();
  }
  return {
    client,
    connection: {
      cluster: { nodes: servers.map(({ host, port }) => ({ host, port })) },
      connection: { password },
    },
    async [Symbol.asyncDispose]() {
      client.disconnect();
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    },
  };
}
