import { startPostgres, type PostgresServer } from '@strandline/servers';
import type { Backlog, BacklogOptions, BenchDatabase } from '../bench-database.js';
import { PostgresBacklog } from './postgres-backlog.js';

/** No upkeep while something is measured. The rest are the fixture's defaults; fsync is off there. */
const SETTINGS = { autovacuum: 'off', checkpoint_timeout: '1h', max_wal_size: '16GB' };

export class PostgresBench implements BenchDatabase {
  readonly name = 'postgres';
  readonly label = 'Postgres';
  readonly #server: PostgresServer;

  static async start(): Promise<PostgresBench> {
    return new PostgresBench(await startPostgres({ settings: SETTINGS }));
  }

  private constructor(server: PostgresServer) {
    this.#server = server;
  }

  createBacklog(options: BacklogOptions): Promise<Backlog> {
    return PostgresBacklog.create(this.#server, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}
