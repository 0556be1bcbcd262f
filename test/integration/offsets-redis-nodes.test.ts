import { inspect } from 'node:util';
import type { Offset, OffsetSeed, OffsetStore } from '@strandline/core';
import { redisOffsets } from '@strandline/offsets-redis';
import { startRedis, type RedisServer } from '@strandline/servers';
import { waitUntil } from '@strandline/test-kit';
import { Redis } from 'ioredis';
import { describe, expect, it, vi } from 'vitest';

const seed: OffsetSeed = { identity: { system: '7301' }, watermark: '0/1000:0' };

describe('replicas', () => {
  it('have a commit before it is saved, and one that they do not get in time fails', async () => {
    await using primary = await startPrimary();
    await using replica = await startReplica(primary);
    await using store = redisOffsets({ url: primary.url, replicas: { count: 1, timeout: 500 } });
    const claimed = await eventually('the replica follows', () => store.claim('shop', seed));
    const offset = at(claimed, 1);
    expect(await store.commit('shop', offset)).toBe('saved');
    await using reader = redisOffsets({ url: replica.url });
    expect(await reader.load('shop')).toEqual(offset);
    expect(await failure(reader.claim('shop', seed))).toMatchObject({ code: 'OFFSETS_READONLY' });

    await replica.pause();
    const error = await failure(store.commit('shop', at(offset, 2)));
    expect(error).toMatchObject({ code: 'OFFSETS_UNAVAILABLE' });
    expect(error.message).toContain('0 of 1 replicas');
    await replica.resume();
    expect(await store.commit('shop', at(offset, 3))).toBe('saved');
  });

  it('are waited for also when the script must be sent once more', async () => {
    await using primary = await startPrimary();
    await using replica = await startReplica(primary);
    await using store = redisOffsets({ url: primary.url, replicas: { count: 1, timeout: 500 } });
    const claimed = await eventually('the replica follows', () => store.claim('shop', seed));
    await using admin = client(primary.url);
    await admin.redis.script('FLUSH');
    expect(await store.commit('shop', at(claimed, 1))).toBe('saved');
    await replica.pause();
    await admin.redis.script('FLUSH');
    expect(await failure(store.commit('shop', at(claimed, 2)))).toMatchObject({
      code: 'OFFSETS_UNAVAILABLE',
    });
    await replica.resume();
  });
});

describe('sentinels', () => {
  it('lead to the replica that takes over, and commits go on there', async () => {
    await using primary = await startPrimary();
    await using replica = await startReplica(primary);
    const password = new URL(primary.url).password;
    const replicaUrl = replica.url.replace(new URL(replica.url).password, password);
    await using former = client(primary.url);
    await former.redis.config('SET', 'masterauth', password);
    await setPassword(replica, password); // sentinels use one for all
    await using sentinel = await startSentinel(primary, password);
    await using admin = client(sentinel.url);
    await waitUntil('the sentinel knows the replica', async () => {
      const replicas = (await admin.redis.call('SENTINEL', 'replicas', 'shop')) as string[][];
      return replicas.some((fields) => fields[fields.indexOf('master-link-status') + 1] === 'ok');
    });

    const sentinelPassword = new URL(sentinel.url).password;
    // One of them is away, which is no trouble, and not worth a word on the console.
    const sentinels = [
      { host: '127.0.0.1', port: 1 },
      { host: sentinel.host, port: sentinel.port },
    ];
    const printed = vi.spyOn(console, 'error');
    await using store = redisOffsets({ connection: { sentinels, name: 'shop', sentinelPassword, password } });
    expect(store.name).toBe(`redis-sentinel://127.0.0.1:1,${sentinel.host}:${String(sentinel.port)}/shop`);
    const claimed = await store.claim('shop', seed);
    expect(await store.commit('shop', at(claimed, 1))).toBe('saved');
    await using reader = redisOffsets({ url: replicaUrl });
    await waitUntil('the replica has it', async () => (await reader.load('shop'))?.revision === 1);

    await admin.redis.call('SENTINEL', 'failover', 'shop');
    await using promoted = client(replicaUrl);
    await waitUntil('the replica is promoted', async () => (await promoted.redis.role())[0] === 'master');
    let revision = 1;
    const reached = async (): Promise<boolean> => {
      await store.commit('shop', at(claimed, (revision += 1))).catch(() => undefined);
      return (await reader.load('shop'))?.revision === revision;
    };
    await waitUntil('a commit reaches the new primary', reached);
    expect(await store.commit('shop', at(claimed, revision + 1))).toBe('saved');
    expect(printed).not.toHaveBeenCalled();
  });
});

describe('a cluster', () => {
  it('says when it is down, is used by its hash slots, and comes back', async () => {
    const args = [
      '--cluster-enabled',
      'yes',
      '--cluster-announce-ip',
      '127.0.0.1',
      '--appendfsync',
      'always',
    ];
    await using server = await startRedis({ exclusive: true, args });
    await using admin = client(server.url);
    await using alone = redisOffsets({ url: server.url });
    expect(await failure(alone.claim('shop', seed))).toMatchObject({ code: 'OFFSETS_UNAVAILABLE' });
    await admin.redis.cluster('ADDSLOTSRANGE', 0, 16_383);
    await waitUntil(
      'the cluster is up',
      async () => (await alone.claim('up', seed).catch(() => null)) !== null,
    );

    await using store = openCluster(server, new URL(server.url).password);
    const claimed = await store.claim('shop{}', seed);
    expect(await store.commit('shop{}', at(claimed, 1))).toBe('saved');
    expect(await store.load('shop{}')).toEqual(at(claimed, 1));
    await admin.redis.script('FLUSH');
    expect(await store.commit('shop{}', at(claimed, 2))).toBe('saved');

    await server.kill();
    expect(await failure(store.commit('shop{}', at(claimed, 3)))).toMatchObject({
      code: 'OFFSETS_UNAVAILABLE',
    });
    await server.start();
    let revision = 3;
    await eventually('a commit is saved', () => store.commit('shop{}', at(claimed, (revision += 1))));
    expect(await store.load('shop{}')).toEqual(at(claimed, revision));
  });

  it('lists what lies on a shard that was added since', async () => {
    const args = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'];
    // What is new in a cluster takes writes after so many milliseconds.
    args.push('--cluster-node-timeout', '3000');
    const [one, two] = await Promise.all([1, 2].map(() => startRedis({ exclusive: true, args })));
    await using first = one ?? expect.fail();
    await using added = two ?? expect.fail();
    const { password } = new URL(first.url);
    await setPassword(added, password);
    await using admin = client(first.url);
    await using other = client(Object.assign(new URL(added.url), { password }).href);
    await admin.redis.cluster('ADDSLOTSRANGE', 0, 16_383);
    await using store = openCluster(first, password, added);
    await eventually('the cluster is up', () => store.claim('shop', seed));
    expect(await pipelinesIn(store)).toEqual(['shop']);

    await other.redis.cluster('MEET', first.host, first.port);
    const id = await other.redis.cluster('MYID');
    await waitUntil('they have met', async () => String(await admin.redis.cluster('NODES')).includes(id));
    // A slot in which nothing lies yet: nothing that the store asks for has moved.
    const [key = ''] = await admin.redis.keys('*');
    const slot = await admin.redis.cluster('KEYSLOT', key.replace('shop', 'mails'));
    await other.redis.cluster('SETSLOT', slot, 'NODE', id);
    await admin.redis.cluster('SETSLOT', slot, 'NODE', id);
    await using elsewhere = openCluster(added, password, first);
    await eventually('the shard takes offsets', () => elsewhere.claim('mails', seed));
    expect(await pipelinesIn(store)).toEqual(['mails', 'shop']);
  });

  it('that refuses the password or is away says so, without the password', async () => {
    await using server = await startRedis({ exclusive: true, args: ['--cluster-enabled', 'yes'] });
    await using stranger = openCluster(server, 'n0t-this');
    const refused = await failure(stranger.load('shop'));
    expect(refused).toMatchObject({ code: 'OFFSETS_AUTH' });
    expect(inspect(refused, { depth: 10, showHidden: true })).not.toContain('n0t-this');
    await server.kill();
    const away = await failure(stranger.load('shop'));
    expect(away).toMatchObject({ code: 'OFFSETS_UNAVAILABLE' });
    expect(away.message).toContain(`${server.host}:${String(server.port)}`);
  });
});

/** Replicas are served at once, and not after the 5 s in which more of them may come. */
function startPrimary(): Promise<RedisServer> {
  return startRedis({ exclusive: true, args: ['--repl-diskless-sync-delay', '0'] });
}

/** It also knows the password that the former primary has, for when the roles are swapped. */
function startReplica(primary: RedisServer): Promise<RedisServer> {
  const { password } = new URL(primary.url);
  const args = ['--replicaof', primary.host, String(primary.port), '--masterauth', password];
  return startRedis({ exclusive: true, args });
}

function startSentinel(primary: RedisServer, password: string): Promise<RedisServer> {
  const args = [
    '--sentinel',
    `--sentinel monitor shop ${primary.host} ${String(primary.port)} 1`,
    `--sentinel auth-pass shop ${password}`,
  ];
  return startRedis({ exclusive: true, args });
}

function openCluster(
  server: RedisServer,
  password: string,
  ...others: readonly RedisServer[]
): OffsetStore & AsyncDisposable {
  const node = { host: server.host, port: server.port };
  // The server may know itself by another port than the one by which it is reached.
  const options = others.length === 0 ? { natMap: () => node } : {};
  return redisOffsets({
    cluster: { nodes: [node], options },
    connection: { password },
    connectTimeout: 2_000,
    commandTimeout: 500,
  });
}

function client(url: string): { redis: Redis } & AsyncDisposable {
  const redis = new Redis(url);
  redis.on('error', () => undefined); // of the servers that a test kills
  return {
    redis,
    [Symbol.asyncDispose]: () => {
      redis.disconnect();
      return Promise.resolve();
    },
  };
}

async function pipelinesIn(store: OffsetStore): Promise<string[]> {
  return (await store.list()).map(({ pipeline }) => pipeline).toSorted();
}

async function setPassword(server: RedisServer, password: string): Promise<void> {
  await using admin = client(server.url);
  await admin.redis.config('SET', 'requirepass', password);
}

function eventually<T>(what: string, attempt: () => Promise<T>): Promise<NonNullable<T>> {
  return waitUntil(what, () => attempt().catch(() => undefined));
}

function at(offset: Offset, revision: number): Offset {
  return { ...offset, revision, watermark: `0/${String(1_000 + revision)}:0` };
}

function failure(promise: Promise<unknown>): Promise<Error & { readonly code: string }> {
  return promise.then(
    (value) => expect.fail(`it resolved with ${inspect(value)}`),
    (error: unknown) => error as Error & { readonly code: string },
  );
}
