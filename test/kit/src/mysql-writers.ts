import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolConnection } from 'mysql2/promise';
import type { TestMysqlDatabase } from './mysql-fixture.js';
import { insertMysqlRows } from './mysql-outbox.js';
import type { WriterOptions } from './outbox-writers.js';

/** What `OutboxWriters` are for Postgres: several transactions at once that take their ids early and commit late. */
export class MysqlOutboxWriters implements AsyncDisposable {
  readonly #db: TestMysqlDatabase;
  readonly #options: Required<WriterOptions>;
  readonly #loops: Promise<void>[];
  #stopped = false;
  #committed = 0;

  constructor(db: TestMysqlDatabase, options: WriterOptions = {}) {
    this.#db = db;
    this.#options = { writers: 4, keys: 20, linger: 3, rows: 5, rollbacks: 0.1, tolerant: false, ...options };
    this.#loops = Array.from({ length: this.#options.writers }, () => this.#write());
    for (const loop of this.#loops) loop.catch(() => undefined); // told by stop()
  }

  /** Rows whose commit was answered so far. */
  get committed(): number {
    return this.#committed;
  }

  /** Lets each end its transaction. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#loops);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    await Promise.allSettled(this.#loops);
  }

  async #write(): Promise<void> {
    while (!this.#stopped) {
      let connection: PoolConnection | null = null;
      try {
        connection = await this.#db.pool.getConnection();
        while (!this.#stopped) this.#committed += await this.#transaction(connection);
        connection.release();
      } catch (error) {
        connection?.destroy();
        if (!this.#options.tolerant) throw error;
        await sleep(20);
      }
    }
  }

  async #transaction(connection: PoolConnection): Promise<number> {
    const { rows, linger, rollbacks, keys } = this.#options;
    const count = 1 + Math.floor(Math.random() * rows);
    const rollsBack = Math.random() < rollbacks;
    const key = (): string => `k${String(Math.floor(Math.random() * keys))}`;
    await connection.beginTransaction();
    await insertMysqlRows(
      connection,
      Array.from({ length: count }, () => ({ key: key() })),
    );
    if (linger > 0) await sleep(Math.random() * linger);
    await (rollsBack ? connection.rollback() : connection.commit());
    return rollsBack ? 0 : count;
  }
}
