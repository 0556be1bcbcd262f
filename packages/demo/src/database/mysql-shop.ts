import mysql from 'mysql2/promise';
import type { CommittedEvent } from '../checker.js';
import { MYSQL_TABLES } from './mysql-tables.js';
import { MysqlWriter } from './mysql-writer.js';
import { onlyRow } from './only-row.js';
import * as queries from './queries.js';
import type { HandledDelivery, OutboxEvent, ShopCounts, ShopDatabase, ShopWriter } from './shop-database.js';

/** MySQL and MariaDB: nothing that the shop does differs between the two. */
export class MysqlShop implements ShopDatabase {
  readonly #pool: mysql.Pool;

  /** @param client what the server is told about who connects. */
  constructor(url: string, client: string, connections: number) {
    this.#pool = mysql.createPool({
      uri: url,
      connectionLimit: connections,
      connectAttributes: { program_name: client },
      supportBigNumbers: true,
      bigNumberStrings: true,
    });
  }

  async createTables(): Promise<void> {
    for (const table of MYSQL_TABLES) await this.#pool.query(table);
  }

  async openWriter(): Promise<ShopWriter> {
    return new MysqlWriter(await this.#pool.getConnection());
  }

  async eventsAbove(id: string): Promise<CommittedEvent[]> {
    const sql = 'SELECT id, order_id FROM outbox WHERE id > ? ORDER BY id';
    return (await this.#select<queries.EventRow>(sql, [id])).map(queries.eventOf);
  }

  async recordPolled(events: readonly CommittedEvent[]): Promise<void> {
    await this.#pool.query('INSERT INTO polled (outbox_id, order_id) VALUES ?', [
      events.map(({ id, key }) => [id, key]),
    ]);
  }

  async recordHandled({ key, id, run, attempt, alone }: HandledDelivery): Promise<void> {
    await this.#pool.query(
      'INSERT INTO handled (order_id, outbox_id, run, attempt, alone) VALUES (?, ?, ?, ?, ?)',
      [key, id, run, attempt, alone],
    );
  }

  async counts(cursorId: string): Promise<ShopCounts> {
    const sql = queries.countsQuery('?');
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

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool.end();
  }

  async #select<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
    const [rows] = await this.#pool.query<(Row & mysql.RowDataPacket)[]>(sql, values);
    return rows;
  }
}
