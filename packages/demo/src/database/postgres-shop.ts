import pg from 'pg';
import type { CommittedEvent } from '../checker.js';
import { onlyRow } from './only-row.js';
import { POSTGRES_TABLES } from './postgres-tables.js';
import { PostgresWriter } from './postgres-writer.js';
import * as queries from './queries.js';
import type { HandledDelivery, OutboxEvent, ShopCounts, ShopDatabase, ShopWriter } from './shop-database.js';

export class PostgresShop implements ShopDatabase {
  readonly #pool: pg.Pool;

  /** @param client what the server is told about who connects. */
  constructor(url: string, client: string, connections: number) {
    this.#pool = new pg.Pool({ connectionString: url, max: connections, application_name: client });
    // A server that goes away says so by an event on the idle clients, which would end the process. The next query
    // fails with the same reason, where it can be handled.
    this.#pool.on('error', () => undefined);
  }

  async createTables(): Promise<void> {
    await this.#pool.query(POSTGRES_TABLES);
  }

  async openWriter(): Promise<ShopWriter> {
    return new PostgresWriter(await this.#pool.connect());
  }

  async eventsAbove(id: string): Promise<CommittedEvent[]> {
    const sql = 'SELECT id, order_id FROM outbox WHERE id > $1 ORDER BY id';
    return (await this.#select<queries.EventRow>(sql, [id])).map(queries.eventOf);
  }

  async recordPolled(events: readonly CommittedEvent[]): Promise<void> {
    await this.#pool.query(
      'INSERT INTO polled (outbox_id, order_id) SELECT * FROM unnest($1::bigint[], $2::bigint[])',
      [events.map((event) => event.id), events.map((event) => event.key)],
    );
  }

  async recordHandled({ key, id, run, attempt, alone }: HandledDelivery): Promise<void> {
    await this.#pool.query(
      'INSERT INTO handled (order_id, outbox_id, run, attempt, alone) VALUES ($1, $2, $3, $4, $5)',
      [key, id, run, attempt, alone],
    );
  }

  async counts(cursorId: string): Promise<ShopCounts> {
    const sql = queries.countsQuery('$1');
    return queries.countsOf(onlyRow(await this.#select<queries.CountsRow>(sql, [cursorId]), sql));
  }

  async committed(): Promise<OutboxEvent[]> {
    return (await this.#select<queries.OutboxRow>(queries.COMMITTED)).map(queries.outboxEventOf);
  }

  async handled(): Promise<HandledDelivery[]> {
    return (await this.#select<queries.HandledRow>(queries.HANDLED)).map(queries.handledOf);
  }

  async polled(): Promise<CommittedEvent[]> {
    return (await this.#select<queries.EventRow>(queries.POLLED)).map(queries.eventOf);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }

  async #select<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#pool.query<Row>(sql, values)).rows;
  }
}
