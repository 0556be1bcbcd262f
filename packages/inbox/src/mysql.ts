import type { Pool, PoolConnection, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { errorField, type Database, type Pruning, type Session } from './database.js';
import type { InboxFacts } from './diagnose.js';
import { commitError, InboxEndedError, rolledBackError } from './errors.js';
import { lookMysql, mysqlDdl, mysqlTable, prepareMysql } from './mysql-table.js';
import type { ValidOptions } from './options.js';

const DUPLICATE = 1062;
const NO_SUCH_TABLE = 1146;
/** RELEASE of a savepoint that is no more. */
const NO_SAVEPOINT = 1305;
/** A COMMIT that the server refused: lock wait, deadlock (a cluster's certification), rolled back during commit. */
const REFUSED: ReadonlySet<unknown> = new Set([1205, 1213, 3101]);
/** Rows of one statement: some 80 kB. */
const ROWS = 1_000;

export class MysqlDatabase implements Database<PoolConnection> {
  readonly #pool: Pool;
  readonly #options: ValidOptions;

  constructor(pool: Pool, options: ValidOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  prepare(): Promise<void> {
    return prepareMysql(this.#pool, this.#options);
  }

  async open(): Promise<Session<PoolConnection>> {
    return new MysqlSession(await this.#pool.getConnection(), mysqlTable(this.#options.table));
  }

  async look(): Promise<InboxFacts> {
    const { table, create } = this.#options;
    const look = await lookMysql(this.#pool, table);
    return { table: mysqlTable(table), ddl: mysqlDdl(table), create, look };
  }

  isMissingTable(error: unknown): boolean {
    return errorField(error, 'errno') === NO_SUCH_TABLE;
  }
}

class MysqlSession implements Session<PoolConnection> {
  readonly #table: string;
  #recorded: { readonly inbox: string; readonly digests: readonly Buffer[] } = { inbox: '', digests: [] };

  constructor(
    readonly tx: PoolConnection,
    table: string,
  ) {
    this.#table = table;
  }

  async record(inbox: string, digests: readonly Buffer[]): Promise<readonly boolean[]> {
    // Not START TRANSACTION: a deadlock ends that one, and when the effect catches the error and goes on, each further
    // statement of it would commit by itself, without the record.
    await this.tx.query('SET @strandline_autocommit = @@autocommit, autocommit = 0');
    const isNew: boolean[] = [];
    for (let from = 0; from < digests.length; from += ROWS)
      isNew.push(...(await this.#insertAll(inbox, digests.slice(from, from + ROWS))));
    // Tells at the end whether the transaction is still this one.
    await this.tx.query('SAVEPOINT strandline_inbox');
    this.#recorded = { inbox, digests: digests.filter((_, index) => isNew[index] === true) };
    return isNew;
  }

  /** Mostly all of them are new. Otherwise the server tells only of one that isn't, and takes the statement back. */
  async #insertAll(inbox: string, digests: readonly Buffer[]): Promise<boolean[]> {
    if (await this.#insert(inbox, digests)) return digests.map(() => true);
    if (digests.length === 1) return [false];
    const isNew: boolean[] = [];
    for (const digest of digests) isNew.push(await this.#insert(inbox, [digest]));
    return isNew;
  }

  /** Not INSERT IGNORE, which makes warnings of other errors too. */
  async #insert(inbox: string, digests: readonly Buffer[]): Promise<boolean> {
    const row = '(?, ?, UTC_TIMESTAMP(6))';
    try {
      await this.tx.query({
        sql: `INSERT INTO ${this.#table} (inbox, event, recorded_at) VALUES ${digests.map(() => row).join(', ')}`,
        values: digests.flatMap((digest) => [inbox, digest]),
      });
      return true;
    } catch (error) {
      if (errorField(error, 'errno') === DUPLICATE) return false;
      throw error;
    }
  }

  async commit(): Promise<void> {
    try {
      await this.tx.query('RELEASE SAVEPOINT strandline_inbox');
    } catch (error) {
      if (errorField(error, 'errno') !== NO_SAVEPOINT) throw error;
      await this.rollback();
      throw (await this.#isRecorded()) ? new InboxEndedError(error) : rolledBackError(error);
    }
    try {
      await this.tx.query('COMMIT');
    } catch (error) {
      throw REFUSED.has(errorField(error, 'errno')) ? error : commitError(error);
    }
  }

  async rollback(): Promise<void> {
    await this.tx.query('ROLLBACK');
  }

  async restore(): Promise<void> {
    await this.tx.query('SET autocommit = @strandline_autocommit, @strandline_autocommit = NULL');
  }

  async prune({ inbox, settledBefore, keep, limit }: Pruning): Promise<number> {
    const [{ affectedRows }] = await this.tx.query<ResultSetHeader>({
      sql: `DELETE FROM ${this.#table} WHERE inbox = ?
        AND recorded_at < LEAST(CAST(? AS DATETIME(6)), UTC_TIMESTAMP(6)) - INTERVAL ? MICROSECOND
        ORDER BY recorded_at LIMIT ?`,
      values: [inbox, settledBefore.replace('T', ' ').replace('Z', ''), keep * 1_000, limit],
    });
    return affectedRows;
  }

  release(): void {
    this.tx.release();
  }

  destroy(): void {
    this.tx.destroy();
  }

  /** Whether one of the records has outlived the transaction. */
  async #isRecorded(): Promise<boolean> {
    const { inbox, digests } = this.#recorded;
    if (digests.length === 0) return false;
    const [rows] = await this.tx.query<RowDataPacket[]>({
      sql: `SELECT 1 FROM ${this.#table} WHERE inbox = ? AND event IN (?) LIMIT 1`,
      values: [inbox, digests],
    });
    return rows.length > 0;
  }
}
