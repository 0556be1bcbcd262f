import callbacks from 'mysql2';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { inbox } from '../src/index.js';
import { isMysqlPool, isPostgresPool, recognised } from '../src/pools.js';

describe('a pool is recognised', () => {
  it('of pg', () => {
    const pool = new pg.Pool();
    expect(isPostgresPool(pool)).toBe(true);
    expect(isMysqlPool(pool)).toBe(false);
    expect(recognised(pool)).toBe(pool);
  });

  it('of mysql2/promise', () => {
    const pool = mysql.createPool({});
    expect(isPostgresPool(pool)).toBe(false);
    expect(isMysqlPool(pool)).toBe(true);
    expect(recognised(pool)).toBe(pool);
    expect(recognised(callbacks.createPool({}).promise())).toBeDefined();
  });

  it.each([
    ['a client of pg', new pg.Client()],
    ['a cluster of mysql2', mysql.createPoolCluster()],
    ['a part of one', mysql.createPoolCluster().of('*')],
    ['a pool of another library', { getConnection: () => null, query: () => null, execute: () => null }],
    ['nothing', undefined],
    ['null', null],
    ['a connection string', 'postgres://localhost'],
  ])('and %s is refused', (_, pool) => {
    expect(() => inbox(pool as unknown as pg.Pool, () => undefined)).toThrow(
      expect.objectContaining({ code: 'INBOX_CONFIG' }),
    );
  });

  it('and one of mysql2 for callbacks is told how to become one', () => {
    const pool: unknown = callbacks.createPool({});
    expect(() => inbox(pool as mysql.Pool, () => undefined)).toThrow('pool.promise()');
  });

  it('and what is no function is no effect', () => {
    expect(() => inbox(new pg.Pool(), 'effect' as never)).toThrow(
      expect.objectContaining({ code: 'INBOX_CONFIG' }),
    );
  });
});
