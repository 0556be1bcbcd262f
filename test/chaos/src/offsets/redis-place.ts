import { rm } from 'node:fs/promises';
import path from 'node:path';
import { startRedis, type RedisServer } from '@strandline/servers';
import type { OffsetsChoice } from '@strandline/test-kit';
import { Redis } from 'ioredis';
import { PIPELINE } from '../names.js';
import type { SeatNetwork } from '../seat-network.js';
import type { OffsetsPlace, SavedOffset } from './offsets-place.js';

const PREFIX = 'chaos';
const KEY = `${PREFIX}:{${PIPELINE}}:offset`;

/** A Redis of the run's own. What it has acknowledged is on its disk: who loses it is who empties it. */
export class RedisPlace implements OffsetsPlace {
  readonly #server: RedisServer;
  readonly #client: Redis;
  /** The offset as it was when it was looked at last. */
  #exported: Buffer | null = null;

  static async start(): Promise<RedisPlace> {
    return new RedisPlace(await startRedis({ exclusive: true, args: ['--appendfsync', 'always'] }));
  }

  private constructor(server: RedisServer) {
    this.#server = server;
    this.#client = new Redis(server.url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: 1_000,
      retryStrategy: () => 100,
    });
    this.#client.on('error', () => undefined); // the command that meets it tells
  }

  get url(): string {
    return this.#server.url;
  }

  choice({ redis }: SeatNetwork): OffsetsChoice {
    return { kind: 'redis', url: redis?.url ?? this.url, keyPrefix: PREFIX, commandTimeout: 1_000 };
  }

  async look(): Promise<SavedOffset | null> {
    const answers = await this.#client.multi().hmget(KEY, 'watermark', 'epoch').dumpBuffer(KEY).exec();
    const [[, fields] = [], [, dump] = []] = answers ?? [];
    const [watermark, epoch] = (fields ?? []) as (string | null)[];
    if (typeof watermark !== 'string') return null;
    this.#exported = dump as Buffer;
    return { watermark, epoch: Number(epoch) };
  }

  /** What an operator does about an offset that got lost; false when there is one. */
  async putBack(): Promise<boolean> {
    if (this.#exported === null) throw new Error('The offset was lost before anybody had exported it.');
    try {
      await this.#client.restore(KEY, 0, this.#exported);
      return true;
    } catch (error) {
      if (String(error).includes('BUSYKEY')) return false;
      throw error;
    }
  }

  async empty(): Promise<void> {
    await this.#client.flushall();
  }

  async kill(): Promise<void> {
    await this.#server.kill();
  }

  async start(): Promise<void> {
    await this.#server.start();
  }

  /** Between `kill` and `start`: nothing of what it had is left. False where its disk is out of reach. */
  async loseDisk(): Promise<boolean> {
    const { dataDirectory } = this.#server;
    if (dataDirectory === undefined) return false;
    await rm(path.join(dataDirectory, 'appendonlydir'), { recursive: true, force: true });
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.disconnect();
    await this.#server[Symbol.asyncDispose]();
  }
}
