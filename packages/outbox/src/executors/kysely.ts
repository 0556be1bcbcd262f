import type { Dialect } from '../dialect.js';
import type { Executor } from '../executor.js';

/** The slice of a transaction of `kysely` that is needed. */
export interface KyselyTransaction {
  executeQuery(query: never): Promise<unknown>;
}

export function kyselyExecutor(trx: KyselyTransaction, dialect: Dialect): Executor {
  return { dialect, run: (sql, params) => trx.executeQuery(compiled(sql, params) as never) };
}

/** What `CompiledQuery.raw(sql, params)` makes. Plugins look at the node, and know the query by its id. */
function compiled(sql: string, parameters: readonly unknown[]): object {
  const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] };
  return { sql, parameters, query, queryId: { queryId: crypto.randomUUID() } };
}
