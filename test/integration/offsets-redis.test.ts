import { inspect } from 'node:util';
import type { Offset, OffsetSeed } from '@strandline/core';
import { redisOffsets, type RedisOffsetsOptions } from '@strandline/offsets-redis';
import { startRedis, type RedisServer } from '@strandline/servers';
import { testRedis, waitUntil } from '@strandline/test-kit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';

const seed: OffsetSeed = { identity: { system: '7301' }, watermark: '0/1000:0' };
/** Short, so that the tests that wait for them are. */
const limits = { connectTimeout: 1_000, commandTimeout: 300 };

describe('a Redis that goes away', () => {
  let server: RedisServer;
  beforeAll(async () => {
    // Every write reaches the disk before it is answered, so that what was saved outlives the kill.
    server = await startRedis({ exclusive: true, args: ['--appendfsync', 'always'] });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('is killed and comes back: commits fail meanwhile, then go on by themselves', async () => {
    await using store = redisOffsets({ url: server.url, keyPrefix: 'killed', ...limits });
    let offset = next(await store.claim('shop', seed));
    expect(await store.commit('shop', offset)).toBe('saved');
    await server.kill();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const error = await failure(store.commit('shop', next(offset)));
      expect(error).toMatchObject({ code: 'OFFSETS_UNAVAILABLE' });
      expect(error.message).toContain(`${server.host}:${String(server.port)}`);
    }
    await server.start();
    offset = next(next(offset));
    // The server starts without any script, and the connection comes back within its backoff.
    expect(
      await waitUntil('a commit is saved', () => store.commit('shop', offset).catch(() => undefined)),
    ).toBe('saved');
    expect(await store.load('shop')).toEqual(offset);
  });

  it('is restarted between two commits and nobody notices', async () => {
    await using store = redisOffsets({ url: server.url, keyPrefix: 'restarted' });
    const claimed = await store.claim('shop', seed);
    await server.restart();
    expect(await store.commit('shop', next(claimed))).toBe('saved');
  });

  it('is away at the start: load and claim say so in time, and a later try succeeds', async () => {
    await using store = redisOffsets({ url: server.url, keyPrefix: 'away', ...limits });
    await server.kill();
    for (const attempt of [() => store.load('shop'), () => store.claim('shop', seed)]) {
      const started = performance.now();
      const error = await failure(attempt());
      expect(performance.now() - started).toBeLessThan(2 * limits.connectTimeout);
      expect(error).toMatchObject({ code: 'OFFSETS_UNAVAILABLE' });
      expect(error.message).toContain(`${server.host}:${String(server.port)}`);
      expect(error.message).toContain('ECONNREFUSED');
      expectNoSecret(error, server);
    }
    await server.start();
    expect(await store.claim('shop', seed)).toMatchObject({ epoch: 1 });
  });

  it('closes at once while it is away, and what waits is told', async () => {
    const store = redisOffsets({ url: server.url, keyPrefix: 'closing', ...limits });
    const offset = next(await store.claim('shop', seed));
    await server.kill();
    const waiting = failure(store.commit('shop', offset));
    const started = performance.now();
    await store.close();
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(['OFFSETS_CLOSED', 'OFFSETS_UNAVAILABLE']).toContain((await waiting).code);
    await server.start();
  });
});

describe('a Redis that hangs', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ exclusive: true });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('answers nothing: a commit fails at its deadline, and goes on when the server does', async () => {
    await using store = redisOffsets({ url: server.url, ...limits });
    const offset = next(await store.claim('hung', seed));
    await server.pause();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const started = performance.now();
      const error = await failure(store.commit('hung', offset));
      expect(error).toMatchObject({ code: 'OFFSETS_UNAVAILABLE' });
      // One deadline for the connection, one for the answer.
      expect(performance.now() - started).toBeLessThan(2 * limits.commandTimeout + 300);
    }
    await server.resume();
    const later = next(next(offset));
    const result = await waitUntil('a commit gets through', () =>
      store.commit('hung', later).catch(() => undefined),
    );
    expect(result).toBe('saved');
  });

  it('accepts connections and says nothing: load fails at its deadline', async () => {
    await using store = redisOffsets({ url: server.url, ...limits });
    await server.pause();
    const started = performance.now();
    const error = await failure(store.load('mute'));
    expect(performance.now() - started).toBeLessThan(2 * limits.connectTimeout);
    await server.resume();
    expect(error).toMatchObject({ code: 'OFFSETS_UNAVAILABLE' });
    expect(error.message).toContain(`${server.host}:${String(server.port)}`);
    expect(await store.load('mute')).toBeNull();
  });

  it('closes although the server never says goodbye', async () => {
    const store = redisOffsets({ url: server.url, ...limits });
    await store.load('mute');
    await server.pause();
    const started = performance.now();
    await store.close();
    expect(performance.now() - started).toBeLessThan(1_000);
    await server.resume();
  });
});

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
    const before = await connections(admin);
    await admin.replicaof('127.0.0.1', '1');
    expect(await failure(store.commit('shop', offset))).toMatchObject({ code: 'OFFSETS_READONLY' });
    await waitUntil('a new connection', async () =>
      (await connections(admin)).some((id) => !before.includes(id)),
    );
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

function expectNoSecret(error: Error, server: RedisServer): void {
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(new URL(server.url).password);
}

function asUser(text: string, user: string): RedisOffsetsOptions {
  const url = new URL(text);
  url.username = user;
  url.password = 'pw';
  return { url: url.href };
}

async function connections(admin: Redis): Promise<string[]> {
  const list = (await admin.client('LIST', 'TYPE', 'NORMAL')) as string;
  return [...list.matchAll(/^id=(\d+)/gm)].map(([, id]) => id ?? '');
}
