import type { Dialect } from '../dialect.js';
import type { Executor } from '../executor.js';

/** The slice of an `EntityManager` or a `QueryRunner` of `typeorm` that is needed. */
export interface TypeormManager {
  query(sql: string, params: never): Promise<unknown>;
}

export function typeormExecutor(manager: TypeormManager, dialect: Dialect): Executor {
  return { dialect, run: (sql, params) => manager.query(sql, [...params] as never) };
}
