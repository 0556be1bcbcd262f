import pg from 'pg';
import type { Socket } from 'node:net';
import type { Link, Result, Row, Value } from './dialect.js';

/** One connection to Postgres. It needs no session settings, so that a pooler may stand between. */
export class PostgresLink implements Link {
  readonly #client: pg.Client;

  constructor(config: pg.ClientConfig) {
    this.#client = new pg.Client(config);
    // A connection that breaks while nobody awaits it emits an error; `onLost` tells it.
    this.#client.on('error', () => undefined);
  }

  async open(): Promise<void> {
    await this.#client.connect();
  }

  async run(sql: string, values: readonly Value[] = []): Promise<Result> {
    let n = 0;
    const text = sql.replaceAll('?', () => `$${String((n += 1))}`);
    // Without values it may be several statements, and then their results are a list, which nobody looks at.
    const result = await this.#client.query<Row>(values.length === 0 ? text : { text, values: [...values] });
    return { rows: result.rows, changed: result.rowCount ?? 0 };
  }

  onLost(listener: () => void): void {
    this.#client.on('error', listener);
    this.#client.on('end', listener);
  }

  async end(): Promise<void> {
    await this.#client.end().catch(() => undefined);
  }

  destroy(): void {
    (
      this.#client as unknown as { readonly connection: { readonly stream: Socket } }
    ).connection.stream.destroy();
  }
}
