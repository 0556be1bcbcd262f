import { startMariadb, startMysql, type MysqlServer } from '@strandline/servers';
import { insertMysqlRows, MysqlTestOutbox } from '@strandline/test-kit';
import mysql, { type RowDataPacket } from 'mysql2/promise';
import type { DeadLettersOptions } from 'strandline';
import type { LoadSession } from '../load/load-session.js';
import type { ChaosDatabase, Ending } from './chaos-database.js';

/** MySQL or MariaDB. */
export class MysqlChaos implements ChaosDatabase {
  readonly endings = ['orderly', 'kill'] as const;
  readonly outbox: MysqlTestOutbox;
  readonly #server: MysqlServer;

  static async start(name: 'mysql' | 'mariadb'): Promise<MysqlChaos> {
    const server = await (name === 'mysql' ? startMysql : startMariadb)({ exclusive: true });
    try {
      const outbox = await MysqlTestOutbox.create(name, server.url);
      await outbox.db.pool.query('CREATE TABLE bystanders (id bigint AUTO_INCREMENT PRIMARY KEY, note text)');
      return new MysqlChaos(server, outbox);
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(server: MysqlServer, outbox: MysqlTestOutbox) {
    this.#server = server;
    this.outbox = outbox;
  }

  get name(): 'mysql' | 'mariadb' {
    return this.#server.kind;
  }

  get url(): string {
    return this.outbox.url;
  }

  async open(): Promise<LoadSession> {
    const connection = await mysql.createConnection({ uri: this.outbox.url, connectTimeout: 5_000 });
    connection.on('error', () => undefined); // the next query says so too
    await connection.query('SET SESSION lock_wait_timeout = 3');
    return {
      insert: (rows) => insertMysqlRows(connection, rows),
      run: (sql) => connection.query(sql),
      close: () => {
        connection.destroy();
      },
    };
  }

  async down(how: Ending): Promise<void> {
    await (how === 'kill' ? this.#server.kill() : this.#server.stop());
  }

  up(): Promise<void> {
    return this.#server.start();
  }

  async rotate(): Promise<void> {
    await this.outbox.db.pool.query('FLUSH BINARY LOGS');
  }

  /** The file in which the position lies is the oldest one that stays. */
  async purge(position: string): Promise<string> {
    const file = /^[^;]*;([^;:]+):/.exec(position)?.[1];
    if (file === undefined) throw new Error(`${position} is not in the log`);
    const before = await this.#files();
    await this.outbox.db.pool.query('PURGE BINARY LOGS TO ?', [file]);
    const after = await this.#files();
    return before.filter((name) => !after.includes(name)).join(', ') || 'nothing';
  }

  lettersAt(url: string): DeadLettersOptions {
    return { mysql: { url } };
  }

  async idsWith(payloads: readonly string[]): Promise<string[]> {
    const sql = 'SELECT CAST(id AS CHAR) AS id FROM outbox WHERE payload IN (?)';
    const [rows] = await this.outbox.db.pool.query<RowDataPacket[]>(sql, [payloads]);
    return rows.map((row) => String(row['id']));
  }

  async #files(): Promise<string[]> {
    const [rows] = await this.outbox.db.pool.query<RowDataPacket[]>('SHOW BINARY LOGS');
    return rows.map((row) => String(row['Log_name']));
  }

  /** The server goes with all that is in it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.outbox.db.pool.end().catch(() => undefined);
    await this.#server[Symbol.asyncDispose]();
  }
}
