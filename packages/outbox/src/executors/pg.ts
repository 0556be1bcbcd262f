import type { Executor } from '../executor.js';

/** The slice of a client of `pg` that is needed. */
export interface PgClient {
  query(sql: string, params: unknown[]): Promise<unknown>;
}

/** @param client the one on which the transaction was begun, not the pool. */
export function pgExecutor(client: PgClient): Executor {
  return { dialect: 'postgres', run: (sql, params) => client.query(sql, [...params]) };
}
