import type { Dialect } from '../dialect.js';
import type { Executor } from '../executor.js';

type MysqlDialect = Exclude<Dialect, 'postgres'>;

/** The slice of a connection of `mysql2/promise` that is needed. */
export interface Mysql2Connection {
  query(sql: string, params: unknown[]): Promise<unknown>;
}

/** The slice of a connection of `mysql2` that is needed. */
export interface Mysql2CallbackConnection {
  query(sql: string, params: unknown[], done: (error: Error | null, result: unknown) => void): unknown;
}

/** @param connection the one on which the transaction was begun, not the pool. */
export function mysql2Executor(connection: Mysql2Connection, dialect: MysqlDialect = 'mysql'): Executor {
  return { dialect, run: (sql, params) => connection.query(sql, [...params]) };
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
        connection.query(sql, [...params], (error, result) => {
          if (error === null) resolve(result);
          else reject(error);
        });
      }),
  };
}
