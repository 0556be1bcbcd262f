import { startPostgres, type PostgresServer } from '@strandline/servers';
import { insertRows, PostgresTestOutbox } from '@strandline/test-kit';
import pg from 'pg';
import type { DeadLettersOptions } from 'strandline';
import type { LoadSession } from '../load/load-session.js';
import type { ChaosDatabase, Ending } from './chaos-database.js';

export class PostgresChaos implements ChaosDatabase {
  readonly name = 'postgres';
  readonly endings = ['orderly', 'immediate', 'kill'] as const;
  readonly outbox: PostgresTestOutbox;
  readonly #server: PostgresServer;

  static async start(): Promise<PostgresChaos> {
    const server = await startPostgres({ exclusive: true });
    try {
      const outbox = await PostgresTestOutbox.create(server.url);
      await outbox.db.pool.query('CREATE TABLE bystanders (note text)');
      return new PostgresChaos(server, outbox);
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(server: PostgresServer, outbox: PostgresTestOutbox) {
    this.#server = server;
    this.outbox = outbox;
  }

  get url(): string {
    return this.outbox.url;
  }

  async open(): Promise<LoadSession> {
    const client = new pg.Client({
      connectionString: this.outbox.url,
      connectionTimeoutMillis: 5_000,
      options: '-c lock_timeout=3s',
    });
    client.on('error', () => undefined); // the next query says so too
    await client.connect();
    return {
      insert: (rows) => insertRows(client, rows),
      run: (sql) => client.query(sql),
      close: () => {
        client.end().catch(() => undefined);
      },
    };
  }

  async down(how: Ending): Promise<void> {
    if (how === 'kill') await this.#server.kill();
    else await this.#server.stop(how === 'orderly' ? 'fast' : 'immediate');
  }

  up(): Promise<void> {
    return this.#server.start();
  }

  async rotate(): Promise<void> {
    await this.outbox.db.pool.query('SELECT pg_switch_wal()');
  }

  /** A checkpoint removes what no slot holds. */
  async purge(): Promise<string> {
    await this.outbox.db.pool.query('CHECKPOINT');
    return 'what no slot holds';
  }

  lettersAt(url: string): DeadLettersOptions {
    return { postgres: { url } };
  }

  async idsWith(payloads: readonly string[]): Promise<string[]> {
    const sql = 'SELECT id::text AS id FROM outbox WHERE payload = ANY ($1)';
    const { rows } = await this.outbox.db.pool.query<{ id: string }>(sql, [payloads]);
    return rows.map(({ id }) => id);
  }

  /** The server goes with all that is in it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.outbox.db.pool.end().catch(() => undefined);
    await this.#server[Symbol.asyncDispose]();
  }
}
