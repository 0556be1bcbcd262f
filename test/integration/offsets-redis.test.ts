import { inspect } from 'node:util';
import type { Offset, OffsetSeed } from '@strandline/core';
import { redisOffsets, type RedisOffsetsOptions } from '@strandline/offsets-redis';
import { startRedis, type RedisServer } from '@strandline/servers';
import { testRedis, waitUntil } from '@strandline/test-kit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';

const seed: OffsetSeed = { identity: { system: '7301' }, watermark: '0/1000:0' };

describe('a Redis that refuses', () => {
  it('a wrong password: no message, cause or property repeats it', async () => {
    const url = new URL(inject('redisUrl'));
    url.password = 'ex-tr4-s3cret';
    await using store = redisOffsets({ url: url.href, connectTimeout: 20_000 });
    const started = performance.now();
    const error = await failure(store.load('shop'));
    expect(performance.now() - started).toBeLessThan(5_000); // it does not wait for a deadline
    expect(error).toMatchObject({ code: 'OFFSETS_AUTH' });
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('s3cret');
    expect(store.name).not.toContain('s3cret');
  });

  it('no password where one is needed', async () => {
    const { hostname, port } = new URL(inject('redisUrl'));
    await using store = redisOffsets({ connection: { host: hostname, port: Number(port) } });
    expect(await failure(store.claim('shop', seed))).toMatchObject({ code: 'OFFSETS_AUTH' });
  });

  it('a user without the permissions, until the remedy is followed', async () => {
    await using redis = await testRedis();
    const user = redis.prefix.replace(':', '');
    const store = redisOffsets({ ...asUser(redis.url, user), keyPrefix: redis.key('o') });
    try {
      await redis.client.acl('SETUSER', user, 'on', '>pw', '+@connection', '+info');
      const error = await failure(store.claim('shop', seed));
      expect(error).toMatchObject({ code: 'OFFSETS_AUTH' });
      const rules =
        /SETUSER <user> (.*?)\.(\s|$)/.exec(error.message)?.[1]?.replace('<keyPrefix>', redis.key('o')) ?? '';
      await redis.client.acl('SETUSER', user, ...rules.split(' '));
      const claimed = await store.claim('shop', seed);
      expect(await store.commit('shop', next(claimed))).toBe('saved');
      expect(await store.load('shop')).toMatchObject({ revision: 1 });
      const createdAt = '2026-01-02T03:04:05.678Z';
      const place = { position: '0/1000:0', identity: {}, committedAt: null, createdAt };
      expect(await store.bookmarks.create('shop', { name: 'a', ...place })).toBe('created');
      expect(await store.bookmarks.delete('shop', 'a')).toBe(true);
      const about = { host: 'h', pid: 1, state: 'running', epoch: 1, details: null };
      const report = { id: 'a', ...about, startedAt: createdAt, reportedAt: createdAt };
      await store.instances.report('shop', report, 60_000);
      expect(await store.instances.list('shop')).toEqual([report]);
      await store.instances.leave('shop', 'a');
      expect(await store.replace('shop', await store.load('shop'), null)).toBe('replaced');
    } finally {
      await store.close();
      await redis.client.acl('DELUSER', user);
    }
  });

  it('a database that does not exist: nothing is written to another one', async () => {
    await using redis = await testRedis();
    const url = new URL(redis.url);
    url.pathname = '/9999';
    await using store = redisOffsets({ url: url.href, keyPrefix: redis.key('o') });
    expect(await failure(store.claim('shop', seed))).toMatchObject({ code: 'OFFSETS_CONFIG' });
    expect(await redis.keys()).toEqual([]);
  });

  it('another database than 0 is used', async () => {
    await using redis = await testRedis();
    const url = new URL(redis.url);
    url.pathname = '/3';
    await using store = redisOffsets({ url: url.href, keyPrefix: redis.key('o') });
    expect(store.name).toMatch(/\/3$/);
    await store.claim('shop', seed);
    expect(await redis.keys()).toEqual([]);
    await redis.client.select(3);
    expect(await redis.keys()).toHaveLength(1);
  });
});

describe('a Redis that can not write', () => {
  let server: RedisServer;
  let admin: Redis;
  beforeAll(async () => {
    server = await startRedis({ exclusive: true });
    admin = new Redis(server.url);
  });
  beforeEach(() => admin.flushall());
  afterAll(async () => {
    admin.disconnect();
    await server[Symbol.asyncDispose]();
  });

  it('knows no script any more', async () => {
    await using store = redisOffsets({ url: server.url });
    const offset = next(await store.claim('shop', seed));
    expect(await store.commit('shop', offset)).toBe('saved');
    await admin.script('FLUSH');
    expect(await store.commit('shop', next(offset))).toBe('saved');
  });

  it('is out of memory: nothing changes, and it goes on when there is room', async () => {
    await using store = redisOffsets({ url: server.url });
    const claimed = await store.claim('shop', seed);
    await admin.config('SET', 'maxmemory', '1');
    for (const attempt of [() => store.commit('shop', next(claimed)), () => store.claim('shop', seed)]) {
      const error = await failure(attempt());
      expect(error).toMatchObject({ code: 'OFFSETS_UNAVAILABLE' });
      expect(error.message).toContain('maxmemory');
    }
    await admin.config('SET', 'maxmemory', '0');
    expect(await store.load('shop')).toEqual(claimed);
    expect(await store.commit('shop', next(claimed))).toBe('saved');
  });

  it('is busy with a long script', async () => {
    await using store = redisOffsets({ url: server.url });
    const claimed = await store.claim('shop', seed);
    await admin.config('SET', 'busy-reply-threshold', '20');
    const other = new Redis(server.url);
    const endless = other.eval('while true do end', 0).catch((error: unknown) => error);
    try {
      const error = await waitUntil('it says so', () =>
        store.commit('shop', next(claimed)).then(() => undefined, asFailure),
      );
      expect(error).toMatchObject({ code: 'OFFSETS_UNAVAILABLE' });
      expect(error.message).toContain('script');
    } finally {
      await admin.script('KILL');
      await endless;
      other.disconnect();
    }
    expect(
      await waitUntil('it is saved', () =>
        store.commit('shop', { ...claimed, revision: 9 }).catch(() => undefined),
      ),
    ).toBe('saved');
  });

  it('is demoted to a replica: a new connection is made, and commits go on after its promotion', async () => {
    await using store = redisOffsets({ url: server.url });
    const offset = next(await store.claim('shop', seed));
    const before = await connectionsMade(admin);
    await admin.replicaof('127.0.0.1', '1');
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(await failure(store.commit('shop', offset))).toMatchObject({ code: 'OFFSETS_READONLY' });
    }
    expect(await connectionsMade(admin)).toBeGreaterThan(before);
    await admin.replicaof('NO', 'ONE');
    expect(
      await waitUntil('it is saved', () => store.commit('shop', next(offset)).catch(() => undefined)),
    ).toBe('saved');
  });
});

function next(offset: Offset): Offset {
  return { ...offset, revision: offset.revision + 1 };
}

interface Failure extends Error {
  readonly code: string;
  readonly remedy: string;
}

function failure(promise: Promise<unknown>): Promise<Failure> {
  return promise.then((value) => expect.fail(`it resolved with ${inspect(value)}`), asFailure);
}

function asFailure(error: unknown): Failure {
  expect((error as Failure).remedy).toMatch(/\w{3}/);
  return error as Failure;
}

function asUser(text: string, user: string): RedisOffsetsOptions {
  const url = new URL(text);
  url.username = user;
  url.password = 'pw';
  return { url: url.href };
}

/** Since the server started. */
async function connectionsMade(admin: Redis): Promise<number> {
  return Number(/total_connections_received:(\d+)/.exec(await admin.info('stats'))?.[1]);
}
