import { randomUUID } from 'node:crypto';
import type mysql from 'mysql2/promise';
import type { TestMysqlDatabase } from './mysql-fixture.js';
import type { OutboxRow } from './outbox-row.js';

/** What mysql({ … }) needs to read the outbox of a test: plain data, so that it can go to another process. */
export interface MysqlOutboxSource {
  readonly url: string;
  readonly start: 'now';
  readonly outbox: {
    readonly table: string;
    readonly id: string;
    readonly key: string;
    readonly payload: string;
  };
}

/** Makes the table `outbox` and names what a pipeline on it is to use. */
export async function createMysqlOutbox(db: TestMysqlDatabase): Promise<MysqlOutboxSource> {
  // For MysqlCommitWitness: the text of a statement beside its rows. MariaDB's default is to have it.
  if (db.kind === 'mysql') {
    db.pool.on('connection', (connection) => {
      void connection.query('SET SESSION binlog_rows_query_log_events = ON');
    });
  }
  await db.pool.query(
    `CREATE TABLE outbox (id bigint AUTO_INCREMENT PRIMARY KEY, \`key\` varchar(255) NOT NULL, payload longtext,
       token varchar(64) NOT NULL, place int NOT NULL)`,
  );
  return mysqlOutboxSource(db.url);
}

/** For an outbox that is there already. */
export function mysqlOutboxSource(url: string): MysqlOutboxSource {
  return { url, start: 'now', outbox: { table: 'outbox', id: 'id', key: 'key', payload: 'payload' } };
}

/**
 * Inserts rows with one statement; resolves with their ids, in the order in which they were inserted. The statement
 * carries a token, which the rows have too, beside their places in it: the binlog can have the text of statements
 * beside their rows, and a MysqlCommitWitness reads it there.
 */
export async function insertMysqlRows(
  client: Pick<mysql.Connection, 'query'>,
  rows: readonly OutboxRow[],
): Promise<string[]> {
  const token = randomUUID();
  const [result] = await client.query<mysql.ResultSetHeader>(
    `INSERT /* token ${token} */ INTO outbox (id, \`key\`, payload, token, place) VALUES ?`,
    [rows.map(({ id, key, payload }, place) => [id ?? null, key, payload ?? null, token, place])],
  );
  // The ids that a statement makes are consecutive, when it says how many rows it has.
  return rows.map(({ id }, index) => id ?? String(result.insertId + index));
}
