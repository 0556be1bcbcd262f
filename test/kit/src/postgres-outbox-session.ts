import pg from 'pg';
import type { OutboxRow } from './outbox-row.js';
import type { OutboxSession } from './outbox-session.js';
import { insertRows } from './postgres-outbox.js';

/** A client of its own. */
export class PostgresOutboxSession implements OutboxSession {
  readonly #client: pg.Client;

  static async open(url: string): Promise<PostgresOutboxSession> {
    const client = new pg.Client({ connectionString: url, application_name: 'test-kit session' });
    client.on('error', () => undefined); // the next query says so too
    await client.connect();
    return new PostgresOutboxSession(client);
  }

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  insert(rows: readonly OutboxRow[]): Promise<string[]> {
    return insertRows(this.#client, rows);
  }

  async begin(): Promise<void> {
    await this.#client.query('BEGIN');
  }

  async commit(): Promise<void> {
    await this.#client.query('COMMIT');
  }

  async rollback(): Promise<void> {
    await this.#client.query('ROLLBACK');
  }

  async run(sql: string): Promise<void> {
    await this.#client.query(sql);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#client.end();
  }
}
