import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startRedis } from '@strandline/servers';
import { Redis } from 'ioredis';
import type { OffsetsKind, OffsetsSettings } from '../readers/pipeline-parts.js';

/** Where the pipelines of a run keep their offsets; gone when it is disposed of. */
export interface OffsetsPlace extends AsyncDisposable {
  readonly settings: OffsetsSettings;
  /** Of a server, by name. */
  readonly versions: Readonly<Record<string, string>>;
}

export async function openOffsetsPlace(kind: OffsetsKind): Promise<OffsetsPlace> {
  switch (kind) {
    case 'redis': {
      const redis = await startRedis({ exclusive: true });
      return {
        settings: { kind, url: redis.url },
        versions: { Redis: await versionOf(redis.url) },
        [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
      };
    }
    case 'file': {
      const directory = await mkdtemp(path.join(os.tmpdir(), 'strandline-bench-offsets-'));
      return {
        settings: { kind, directory },
        versions: {},
        [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
      };
    }
    case 'memory':
      return { settings: { kind }, versions: {}, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
}

async function versionOf(url: string): Promise<string> {
  const redis = new Redis(url);
  try {
    return /^redis_version:(\S+)/m.exec(await redis.info('server'))?.[1] ?? 'unknown';
  } finally {
    redis.disconnect();
  }
}
