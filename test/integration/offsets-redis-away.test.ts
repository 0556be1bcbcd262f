import { inspect } from 'node:util';
import type { Offset, OffsetSeed } from '@strandline/core';
import { redisOffsets } from '@strandline/offsets-redis';
import { startRedis, type RedisServer } from '@strandline/servers';
import { waitUntil } from '@strandline/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const seed: OffsetSeed = { identity: { system: '7301' }, watermark: '0/1000:0' };
/** Short, so that the tests that wait for them are. */
const limits = { connectTimeout: 1_000, commandTimeout: 500 };
/** Of a wait that ends at a deadline: far above it, for a machine under load, and far below for ever. */
const inTime = 5_000;

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
      expect(performance.now() - started).toBeLessThan(inTime);
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
    expect(performance.now() - started).toBeLessThan(inTime);
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
      expect(performance.now() - started).toBeLessThan(inTime);
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
    expect(performance.now() - started).toBeLessThan(inTime);
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
    expect(performance.now() - started).toBeLessThan(inTime);
    await server.resume();
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
