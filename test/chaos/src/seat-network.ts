import { TcpProxy } from '@strandline/test-kit';

/** The network between one process and its servers. */
export class SeatNetwork implements AsyncDisposable {
  readonly database: TcpProxy;
  /** Null where offsets are in files. */
  readonly redis: TcpProxy | null;

  static async open(databaseUrl: string, redisUrl: string | null): Promise<SeatNetwork> {
    const database = await TcpProxy.start(databaseUrl);
    return new SeatNetwork(database, redisUrl === null ? null : await TcpProxy.start(redisUrl));
  }

  private constructor(database: TcpProxy, redis: TcpProxy | null) {
    this.database = database;
    this.redis = redis;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database[Symbol.asyncDispose]();
    await this.redis?.[Symbol.asyncDispose]();
  }
}
