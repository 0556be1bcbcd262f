import type { Dialect } from '../dialect.js';
import type { Executor } from '../executor.js';

/** The slice of a transaction of Prisma, or of its client, that is needed. */
export interface PrismaTransaction {
  $executeRawUnsafe(sql: string, ...params: unknown[]): PromiseLike<unknown>;
  $queryRawUnsafe(sql: string, ...params: unknown[]): PromiseLike<unknown>;
}

/** "Unsafe" is only that Prisma does not see where the text comes from: the values are parameters all the same. */
export function prismaExecutor(tx: PrismaTransaction, dialect: Dialect): Executor {
  return {
    dialect,
    run: async (sql, params) =>
      sql.startsWith('select ') ? tx.$queryRawUnsafe(sql, ...params) : tx.$executeRawUnsafe(sql, ...params),
  };
}
