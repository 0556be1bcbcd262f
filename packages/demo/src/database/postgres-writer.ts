import type pg from 'pg';
import { eventType, payloadOf, type Move, type Order, type OrderState } from '../shop.js';
import { onlyRow } from './only-row.js';
import type { ShopWriter } from './shop-database.js';

/** The id is the next of the sequence behind the identity column, which no transaction holds up or gives back. */
export class PostgresWriter implements ShopWriter {
  readonly #client: pg.PoolClient;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  async begin(): Promise<void> {
    await this.#client.query('BEGIN');
  }

  async insertOrder(state: OrderState): Promise<string> {
    const sql = 'INSERT INTO orders (state, version) VALUES ($1, 1) RETURNING id';
    const { rows } = await this.#client.query<{ id: string }>(sql, [state]);
    return onlyRow(rows, sql).id;
  }

  async lockOrder(id: string): Promise<Order> {
    const sql = 'SELECT state, version FROM orders WHERE id = $1 FOR UPDATE';
    const { rows } = await this.#client.query<Order>(sql, [id]);
    return onlyRow(rows, sql);
  }

  async updateOrder({ orderId, state, version }: Move): Promise<void> {
    const sql = 'UPDATE orders SET state = $1, version = $2 WHERE id = $3';
    await this.#client.query(sql, [state, version, orderId]);
  }

  async insertEvent(move: Move): Promise<void> {
    const sql = 'INSERT INTO outbox (order_id, version, type, payload) VALUES ($1, $2, $3, $4)';
    await this.#client.query(sql, [move.orderId, move.version, eventType(move), payloadOf(move)]);
  }

  async commit(): Promise<void> {
    await this.#client.query('COMMIT');
  }

  async rollback(): Promise<void> {
    await this.#client.query('ROLLBACK');
  }

  [Symbol.dispose](): void {
    this.#client.release();
  }
}
