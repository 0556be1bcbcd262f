import type { Dialect } from '../dialect.js';
import { inParts, type Executor } from '../executor.js';

/** The slice of an instance of `sequelize` that is needed. */
export interface SequelizeInstance {
  query(sql: string, options: never): Promise<unknown>;
}

/**
 * By `bind`, which sends the values beside the statement. `replacements` would write them into it.
 *
 * @param transaction null for none.
 */
export function sequelizeExecutor(
  sequelize: SequelizeInstance,
  transaction: object | null,
  dialect: Dialect,
): Executor {
  return {
    dialect,
    place: inParts.place,
    run: (sql, params) => {
      const bind = params.length === 0 ? {} : { bind: [...params] };
      const text = params.length === 0 ? sql : numbered(inParts.parts(sql));
      return sequelize.query(text, { ...bind, transaction } as never);
    },
  };
}

/** On every server a value is `$1` to Sequelize, and `$$` is a dollar, where it would begin one. */
function numbered(parts: readonly string[]): string {
  return parts
    .map((part) => part.replaceAll(/\B\$(?=[$\w])/g, '$$$$'))
    .reduce((sql, part, n) => `${sql}$${String(n)}${part}`);
}
