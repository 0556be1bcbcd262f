import { mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Offset, OffsetStore } from '@strandline/core';
import { fileOffsets, memoryOffsets } from '@strandline/offsets-local';
import { redisOffsets } from '@strandline/offsets-redis';
import { testRedis, testRedisCluster, uniqueName, type TestRedisCluster } from '@strandline/test-kit';
import type { Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeOffsetStore, type OffsetStoreBackend } from './offset-store.js';

describeOffsetStore('memory', () => {
  const storage = new Map<string, Offset>();
  return Promise.resolve({
    open: () => memoryOffsets({ storage }),
    lose: (pipeline) => Promise.resolve(void storage.delete(pipeline)),
    damages: {}, // nothing but the store itself writes there
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
});

describeOffsetStore('a directory of files', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'strandline-offsets-'));
  const directoryOf = (pipeline: string): string => path.join(directory, pipeline);
  const inFile = (damage: (file: string) => Promise<void>) => async (pipeline: string) => {
    const names = (await readdir(directoryOf(pipeline))).filter((name) => name.endsWith('.json'));
    for (const name of names) await damage(path.join(directoryOf(pipeline), name));
  };
  const holding = (text: string | Buffer) => inFile((file) => writeFile(file, text));
  return {
    open: () => fileOffsets({ directory }),
    lose: (pipeline) => rm(directoryOf(pipeline), { recursive: true }),
    damages: {
      cut: inFile((file) => truncate(file, 60)),
      empty: holding(''),
      garbage: holding(Buffer.from([0, 255, 1, 254])),
      json: holding('[1, 2]'),
      null: holding('null'),
      newer: holding('{"format": 2}'),
      unfinished: holding('{"format": 1, "pipeline": "unfinished", "epoch": 1}'),
      epoch: inFile(async (file) => {
        const offset = { identity: {}, watermark: '', completed: [], epoch: 1.5, revision: 0, savedAt: '' };
        await writeFile(file, JSON.stringify({ format: 1, pipeline: 'epoch', ...offset }));
      }),
      stranger: inFile(async (file) => {
        const offset = { identity: {}, watermark: '', completed: [], epoch: 1, revision: 0, savedAt: '' };
        await writeFile(file, JSON.stringify({ format: 1, pipeline: 'another', ...offset }));
      }),
    },
    damageBeside: async (pipeline, text) => {
      const files = ['bookmarks/a.json', 'instances/one.json', 'controls/1.json', 'replaced.json'];
      for (const file of files) await writeFile(path.join(directoryOf(pipeline), file), text);
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
});

interface RedisUnderTest extends AsyncDisposable {
  readonly client: Redis | Cluster;
  readonly keyPrefix: string;
  open(): OffsetStore;
}

describeOffsetStore('Redis', async () => {
  const redis = await testRedis();
  const keyPrefix = redis.key('offsets');
  return redisBackend({
    client: redis.client,
    keyPrefix,
    open: () => redisOffsets({ url: redis.url, keyPrefix }),
    [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
  });
});

describe('on three nodes', () => {
  let cluster: TestRedisCluster;
  beforeAll(async () => {
    cluster = await testRedisCluster();
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  describeOffsetStore('a Redis Cluster', () => {
    const keyPrefix = uniqueName();
    return Promise.resolve(
      redisBackend({
        client: cluster.client,
        keyPrefix,
        open: () => redisOffsets({ ...cluster.connection, keyPrefix }),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
    );
  });
});

function redisBackend(redis: RedisUnderTest): OffsetStoreBackend {
  const { keyPrefix } = redis;
  const keyOf = (pipeline: string): string => `${keyPrefix}:{${pipeline}}:offset`;
  const field = (name: string, value: string) => async (pipeline: string) => {
    await redis.client.hset(keyOf(pipeline), name, value);
  };
  const withoutField = (name: string) => async (pipeline: string) => {
    await redis.client.hdel(keyOf(pipeline), name);
  };
  return {
    open: () => redis.open(),
    lose: async (pipeline) => {
      await redis.client.del(keyOf(pipeline));
    },
    damages: {
      'a string': async (pipeline) => {
        await redis.client.set(keyOf(pipeline), 'x');
      },
      'a list': async (pipeline) => {
        await redis.client.del(keyOf(pipeline));
        await redis.client.rpush(keyOf(pipeline), 'x');
      },
      'newer format': field('format', '2'),
      'no format': withoutField('format'),
      'no epoch': withoutField('epoch'),
      'no revision': withoutField('revision'),
      'epoch in words': field('epoch', 'seven'),
      'hexadecimal epoch': field('epoch', '0x10'),
      'fractional epoch': field('epoch', '1.5'),
      'negative epoch': field('epoch', '-1'),
      'epoch with a blank': field('epoch', ' 1'),
      'epoch in scientific notation': field('epoch', '1e3'),
      'epoch above 2^53': field('epoch', '9007199254740993'),
      'epoch of thirty digits': field('epoch', '1'.repeat(30)),
      'revision in words': field('revision', ''),
    },
    damageBeside: async (pipeline, text) => {
      await redis.client.hset(keyOf(pipeline), 'replaced', text);
      await redis.client.hset(`${keyPrefix}:{${pipeline}}:bookmarks`, 'a', text);
      await redis.client.hset(`${keyPrefix}:{${pipeline}}:instances`, 'one', text);
      await redis.client.hset(`${keyPrefix}:{${pipeline}}:controls`, 'controls', text);
    },
    [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
  };
}

/** What the scripts do not look at is found by whoever reads it; an owner's commit replaces it. */
it.each(['identity', 'completed', 'watermark', 'savedAt'])('Redis: a damaged %s is told', async (field) => {
  await using redis = await testRedis();
  await using store = redisOffsets({ url: redis.url, keyPrefix: redis.key('offsets') });
  const claimed = await store.claim('shop', { identity: {}, watermark: '0' });
  const [key = ''] = await redis.keys();
  await redis.client.hdel(key, field);
  await expect(store.load('shop')).rejects.toMatchObject({ code: 'OFFSETS_CORRUPT' });
  await redis.client.hset(key, field, '{"a": [}');
  if (field !== 'watermark' && field !== 'savedAt') {
    await expect(store.load('shop')).rejects.toMatchObject({ code: 'OFFSETS_CORRUPT' });
  }
  expect(await store.commit('shop', { ...claimed, revision: 1 })).toBe('saved');
  expect(await store.load('shop')).toMatchObject({ revision: 1 });
});
