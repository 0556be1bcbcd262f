import type { Pool as MysqlPool } from 'mysql2/promise';
import type { Pool as PostgresPool } from 'pg';
import { configError } from './errors.js';

function has(value: object, type: 'function' | 'number' | 'object', ...fields: readonly string[]): boolean {
  return fields.every((field) => {
    const found = (value as Record<string, unknown>)[field];
    return typeof found === type && found !== null;
  });
}

/** By what it has, since an application may have another copy of the library than this package. */
export function isPostgresPool(pool: object): pool is PostgresPool {
  // A client has no such counts.
  return has(pool, 'function', 'connect', 'query', 'end') && has(pool, 'number', 'totalCount', 'idleCount');
}

export function isMysqlPool(pool: object): pool is MysqlPool {
  // A cluster has `of`, a pool for callbacks `promise`; that of another library has no pool in it.
  return (
    has(pool, 'function', 'getConnection', 'query', 'execute') &&
    has(pool, 'object', 'pool') &&
    !has(pool, 'function', 'of') &&
    !has(pool, 'function', 'promise')
  );
}

/** @throws InboxError `INBOX_CONFIG` */
export function recognised(pool: unknown): PostgresPool | MysqlPool {
  if (typeof pool === 'object' && pool !== null) {
    if (isPostgresPool(pool) || isMysqlPool(pool)) return pool;
    if (has(pool, 'function', 'getConnection', 'promise'))
      throw configError(
        'The pool of an inbox is a mysql2 pool for callbacks: give it pool.promise(), or make it with mysql2/promise.',
      );
  }
  throw configError(
    'The pool of an inbox must be a Pool of pg, or one that createPool() of mysql2/promise has made: single connections, clusters and other libraries do not do.',
  );
}
