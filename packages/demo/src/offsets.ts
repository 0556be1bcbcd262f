import { Redis } from 'ioredis';

/** Where the worker keeps its offset. */
export interface OffsetsPlace {
  readonly redisUrl: string | null;
  readonly directory: string;
}

/** For people to read: a file's folder, or Redis without its password. */
export function describeOffsets({ redisUrl, directory }: OffsetsPlace): string {
  return redisUrl === null ? directory : redisUrl.replace(/:[^:@/]*@/, ':…@');
}

/** A Redis outlives the demo; the offset of a Postgres that is gone is of no use to anybody in it. */
export async function forgetOffsets({ redisUrl }: OffsetsPlace, pipeline: string): Promise<void> {
  if (redisUrl === null) return;
  const redis = new Redis(redisUrl, { lazyConnect: true, maxRetriesPerRequest: 1, retryStrategy: null });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    await redis.del(`strandline:{${pipeline}}:offset`);
  } catch {
    // Redis is away. That is what the demo failed of, if it did, and must not take the place of that message.
  } finally {
    redis.disconnect();
  }
}
