import path from 'node:path';
import { Redis } from 'ioredis';

/** Where the worker keeps its offset: in the Redis that REDIS_URL names, or in the folder of the run. */
export class OffsetsPlace implements AsyncDisposable {
  readonly pipeline: string;
  readonly redisUrl: string | null;
  readonly directory: string;

  constructor(pipeline: string, redisUrl: string | undefined, runDirectory: string) {
    this.pipeline = pipeline;
    this.redisUrl = redisUrl === undefined || redisUrl === '' ? null : redisUrl;
    this.directory = path.join(runDirectory, 'offsets');
  }

  /** For people to read: the folder, or Redis without its password. */
  get name(): string {
    return this.redisUrl === null ? this.directory : this.redisUrl.replace(/:[^:@/]*@/, ':…@');
  }

  /** A Redis outlives the demo; the offset of a server that is gone is of no use to anybody in it. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.redisUrl === null) return;
    const redis = new Redis(this.redisUrl, { lazyConnect: true, retryStrategy: null });
    redis.on('error', () => undefined);
    try {
      await redis.connect();
      await redis.del(`strandline:{${this.pipeline}}:offset`);
    } catch {
      // Redis is away. If the demo failed of that, this must not take the place of the message that says so.
    } finally {
      redis.disconnect();
    }
  }
}
