import type { Dialect } from '../dialect.js';
import type { Executor } from '../executor.js';

/** The slice of a transaction of `knex` that is needed. */
export interface KnexTransaction {
  raw(sql: string, bindings: never): PromiseLike<unknown>;
}

/** Knex numbers the values itself. */
export function knexExecutor(trx: KnexTransaction, dialect: Dialect): Executor {
  return { dialect, place: () => '?', run: async (sql, params) => trx.raw(sql, [...params] as never) };
}
