import type { Dialect } from '../dialect.js';
import type { Executor, Param } from '../executor.js';

type MysqlDialect = Exclude<Dialect, 'postgres'>;

/** The slice of a connection of `mysql2/promise` that is needed. */
export interface Mysql2Connection {
  query(sql: string): Promise<unknown>;
  execute(sql: string, params: Param[]): Promise<unknown>;
}

/** The slice of a connection of `mysql2` that is needed. */
export interface Mysql2CallbackConnection {
  query(sql: string, done: Done): unknown;
  execute(sql: string, params: Param[], done: Done): unknown;
}

type Done = (error: Error | null, result: unknown) => void;

/**
 * By `execute`, which sends the values beside the statement. `query` would write them into it with backslashes, and with the
 * SQL mode NO_BACKSLASH_ESCAPES a quote in a value would end it. What has no values, such as DDL, needs no preparing.
 *
 * @param connection the one on which the transaction was begun, not the pool.
 */
export function mysql2Executor(connection: Mysql2Connection, dialect: MysqlDialect = 'mysql'): Executor {
  return {
    dialect,
    run: (sql, params) =>
      params.length === 0 ? connection.query(sql) : connection.execute(sql, [...params]),
  };
}

/** The same for a connection of `mysql2` with callbacks. */
export function mysql2CallbackExecutor(
  connection: Mysql2CallbackConnection,
  dialect: MysqlDialect = 'mysql',
): Executor {
  return {
    dialect,
    run: (sql, params) =>
      new Promise((resolve, reject) => {
        const done: Done = (error, result) => {
          if (error === null) resolve(result);
          else reject(error);
        };
        if (params.length === 0) connection.query(sql, done);
        else connection.execute(sql, [...params], done);
      }),
  };
}
