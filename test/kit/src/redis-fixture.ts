import { Redis } from 'ioredis';
import { providedUrl } from './servers.js';
import { uniqueName } from './unique-name.js';

/** A part of Redis of one test's own. */
export interface TestRedis extends AsyncDisposable {
  readonly url: string;
  /** Every key of the test begins with it. */
  readonly prefix: string;
  /** A client for looking and setting up; it adds no prefix by itself. */
  readonly client: Redis;
  /** A key with the prefix. */
  key(name: string): string;
  /** All keys of the test that exist now, sorted. */
  keys(): Promise<string[]>;
}

/**
 * `await using redis = await testRedis()`. At the end all keys with the prefix are deleted.
 *
 * @param serverUrl of another server than the run's, such as one that the test kills.
 */
export async function testRedis(serverUrl?: string): Promise<TestRedis> {
  const url = serverUrl ?? (await providedUrl('redisUrl'));
  const prefix = `${uniqueName()}:`;
  const client = new Redis(url, { lazyConnect: true });
  // A server that the test kills is met by the command that needs it, not by an event nobody listens to.
  client.on('error', () => undefined);
  await client.connect();
  const keys = (): Promise<string[]> => keysWith(client, prefix);
  return {
    url,
    prefix,
    client,
    key: (name) => `${prefix}${name}`,
    keys,
    async [Symbol.asyncDispose]() {
      try {
        const left = await keys();
        if (left.length > 0) await client.unlink(...left);
        const remaining = await keys();
        if (remaining.length > 0) throw new Error(`The test still writes to Redis: ${remaining.join(', ')}.`);
      } finally {
        client.disconnect();
      }
    },
  };
}

async function keysWith(client: Redis, prefix: string): Promise<string[]> {
  const found = new Set<string>(); // SCAN may give a key twice
  for await (const page of client.scanStream({ match: `${prefix}*`, count: 1_000 })) {
    for (const key of page as string[]) found.add(key);
  }
  return [...found].sort();
}
