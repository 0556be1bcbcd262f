import { startPostgres, type PostgresServer } from '@strandline/servers';
import pg from 'pg';
import type { Backlog, BacklogOptions, BenchDatabase } from '../bench-database.js';
import { PostgresBacklog } from './postgres-backlog.js';

/** No upkeep while something is measured. The rest are the fixture's defaults; fsync is off there. */
const SETTINGS = { autovacuum: 'off', checkpoint_timeout: '1h', max_wal_size: '16GB' };

export class PostgresBench implements BenchDatabase {
  readonly name = 'postgres';
  readonly label: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly #server: PostgresServer;

  static async start(): Promise<PostgresBench> {
    const server = await startPostgres({ settings: SETTINGS });
    return new PostgresBench(server, await versionOf(server.url));
  }

  private constructor(server: PostgresServer, version: string) {
    this.#server = server;
    this.label = `Postgres ${version}`;
    this.versions = { Postgres: version };
  }

  createBacklog(options: BacklogOptions): Promise<Backlog> {
    return PostgresBacklog.create(this.#server, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

async function versionOf(url: string): Promise<string> {
  const sql = new pg.Client({ connectionString: url });
  await sql.connect();
  try {
    const { rows } = await sql.query<{ server_version: string }>('show server_version');
    return /^[\d.]+/.exec(rows[0]?.server_version ?? '')?.[0] ?? 'unknown';
  } finally {
    await sql.end();
  }
}
