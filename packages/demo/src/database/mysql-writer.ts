import type { PoolConnection, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { eventType, payloadOf, type Move, type Order, type OrderState } from '../shop.js';
import { onlyRow } from './only-row.js';
import type { ShopWriter } from './shop-database.js';

/** InnoDB hands out an AUTO_INCREMENT at the INSERT, holds nobody up for it, and takes none back. */
export class MysqlWriter implements ShopWriter {
  readonly #connection: PoolConnection;

  constructor(connection: PoolConnection) {
    this.#connection = connection;
  }

  begin(): Promise<void> {
    return this.#connection.beginTransaction();
  }

  async insertOrder(state: OrderState): Promise<string> {
    const sql = 'INSERT INTO orders (state, version) VALUES (?, 1)';
    const [{ insertId }] = await this.#connection.query<ResultSetHeader>(sql, [state]);
    return String(insertId);
  }

  async lockOrder(id: string): Promise<Order> {
    const sql = 'SELECT state, version FROM orders WHERE id = ? FOR UPDATE';
    const [rows] = await this.#connection.query<(Order & RowDataPacket)[]>(sql, [id]);
    return onlyRow(rows, sql);
  }

  async updateOrder({ orderId, state, version }: Move): Promise<void> {
    const sql = 'UPDATE orders SET state = ?, version = ? WHERE id = ?';
    await this.#connection.query(sql, [state, version, orderId]);
  }

  async insertEvent(move: Move): Promise<void> {
    const sql = 'INSERT INTO outbox (order_id, version, type, payload) VALUES (?, ?, ?, ?)';
    await this.#connection.query(sql, [move.orderId, move.version, eventType(move), payloadOf(move)]);
  }

  commit(): Promise<void> {
    return this.#connection.commit();
  }

  rollback(): Promise<void> {
    return this.#connection.rollback();
  }

  [Symbol.dispose](): void {
    this.#connection.release();
  }
}
