import type { Dialect } from '../dialect.js';
import { inParts, type Executor } from '../executor.js';

/** The slice of a transaction of `drizzle-orm` that is needed. */
export interface DrizzleTransaction<Query> {
  execute(query: Query): PromiseLike<unknown>;
}

/** @param sql the tag `sql` of `drizzle-orm`, which alone can make a statement with values. */
export function drizzleExecutor<Query>(
  tx: DrizzleTransaction<Query>,
  sql: (parts: TemplateStringsArray, ...params: unknown[]) => Query,
  dialect: Dialect,
): Executor {
  const statement = (parts: readonly string[], params: readonly unknown[]): Query =>
    sql(Object.assign(parts, { raw: parts }), ...params);
  return {
    dialect,
    place: inParts.place,
    run: async (text, params) => tx.execute(statement(inParts.parts(text), params)),
  };
}
