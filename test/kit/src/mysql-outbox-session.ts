import type { PoolConnection } from 'mysql2/promise';
import type { TestMysqlDatabase } from './mysql-fixture.js';
import { insertMysqlRows } from './mysql-outbox.js';
import type { OutboxRow } from './outbox-row.js';
import type { OutboxSession } from './outbox-session.js';

/** A connection of the pool's, by which it is told from those of the code under test. */
export class MysqlOutboxSession implements OutboxSession {
  readonly #connection: PoolConnection;
  #isInTransaction = false;

  static async open(db: TestMysqlDatabase): Promise<MysqlOutboxSession> {
    return new MysqlOutboxSession(await db.pool.getConnection());
  }

  private constructor(connection: PoolConnection) {
    this.#connection = connection;
  }

  insert(rows: readonly OutboxRow[]): Promise<string[]> {
    return insertMysqlRows(this.#connection, rows);
  }

  async begin(): Promise<void> {
    this.#isInTransaction = true;
    await this.#connection.beginTransaction();
  }

  async commit(): Promise<void> {
    await this.#connection.commit();
    this.#isInTransaction = false;
  }

  async rollback(): Promise<void> {
    await this.#connection.rollback();
    this.#isInTransaction = false;
  }

  async run(sql: string): Promise<void> {
    await this.#connection.query(sql);
  }

  /** One that is in a transaction, or whose transaction failed, is of no use to others. */
  [Symbol.asyncDispose](): Promise<void> {
    if (this.#isInTransaction) this.#connection.destroy();
    else this.#connection.release();
    return Promise.resolve();
  }
}
