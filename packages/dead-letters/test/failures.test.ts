import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../src/dialect.js';
import { explain } from '../src/failures.js';
import { Mysql } from '../src/mysql.js';
import { Postgres } from '../src/postgres.js';

const timeouts = { connectTimeout: 1, statementTimeout: 1 };
const postgres = new Postgres({}, timeouts);
const mysql = new Mysql({}, timeouts);

function raised(properties: object): Error {
  return Object.assign(new Error('it said so.'), properties);
}

describe('what a failure means', () => {
  it.each<[string, Dialect, object, string, boolean]>([
    ['deadlock', postgres, { code: '40P01' }, 'LETTERS_UNAVAILABLE', true],
    ['statement timeout', postgres, { code: '57014' }, 'LETTERS_UNAVAILABLE', true],
    ['lock timeout', postgres, { code: '55P03' }, 'LETTERS_UNAVAILABLE', true],
    ['shutdown', postgres, { code: '57P01' }, 'LETTERS_UNAVAILABLE', true],
    ['full disk', postgres, { code: '53100' }, 'LETTERS_UNAVAILABLE', true],
    ['demoted', postgres, { code: '25006' }, 'LETTERS_UNAVAILABLE', true],
    ['refused', postgres, { code: 'ECONNREFUSED', errno: -111 }, 'LETTERS_UNAVAILABLE', true],
    ['the library’s own', postgres, {}, 'LETTERS_UNAVAILABLE', true],
    ['password', postgres, { code: '28P01' }, 'LETTERS_CONFIG', false],
    ['certificate', postgres, { code: 'SELF_SIGNED_CERT_IN_CHAIN' }, 'LETTERS_CONFIG', false],
    ['no table', postgres, { code: '42P01' }, 'LETTERS_SCHEMA', false],
    ['no privilege', postgres, { code: '42501' }, 'LETTERS_SCHEMA', false],
    ['no column', postgres, { code: '42703' }, 'LETTERS_SCHEMA', false],
    ['too large', postgres, { code: '54000' }, 'LETTERS_REFUSED', false],
    ['deadlock', mysql, { errno: 1213, code: 'ER_LOCK_DEADLOCK' }, 'LETTERS_UNAVAILABLE', true],
    ['lock timeout', mysql, { errno: 1205, code: 'ER_LOCK_WAIT_TIMEOUT' }, 'LETTERS_UNAVAILABLE', true],
    ['killed', mysql, { errno: 1317, code: 'ER_QUERY_INTERRUPTED' }, 'LETTERS_UNAVAILABLE', true],
    ['demoted', mysql, { errno: 1290, code: 'ER_OPTION_PREVENTS_STATEMENT' }, 'LETTERS_UNAVAILABLE', true],
    ['refused', mysql, { errno: -111, code: 'ECONNREFUSED' }, 'LETTERS_UNAVAILABLE', true],
    ['lost', mysql, { code: 'PROTOCOL_CONNECTION_LOST' }, 'LETTERS_UNAVAILABLE', true],
    ['password', mysql, { errno: 1045, code: 'ER_ACCESS_DENIED_ERROR' }, 'LETTERS_CONFIG', false],
    ['no table', mysql, { errno: 1146, code: 'ER_NO_SUCH_TABLE' }, 'LETTERS_SCHEMA', false],
    ['no privilege', mysql, { errno: 1142, code: 'ER_TABLEACCESS_DENIED_ERROR' }, 'LETTERS_SCHEMA', false],
    ['no column', mysql, { errno: 1054, code: 'ER_BAD_FIELD_ERROR' }, 'LETTERS_SCHEMA', false],
    ['too large', mysql, { errno: 1153, code: 'ER_NET_PACKET_TOO_LARGE' }, 'LETTERS_REFUSED', false],
  ])('%s', (_, dialect, properties, code, transient) => {
    const secrets = { sql: 'insert secret', detail: 'Failing row (secret)', parameters: ['secret'] };
    const cause = raised({ ...properties, ...secrets });
    const error = explain('db', dialect.trouble(cause), cause, ['create table letters (n int)']);
    expect(error).toMatchObject({ code, transient, cause: { message: 'it said so.' } });
    expect(error.message).toContain('it said so');
    expect(inspect(error, { depth: 9 })).not.toContain('secret');
    if (code === 'LETTERS_SCHEMA') expect(error.remedy).toContain('create table letters (n int);');
  });

  it('of several addresses that were tried in vain, the first', () => {
    const error = new AggregateError([raised({ code: 'ECONNREFUSED' })]);
    expect(explain('db', postgres.trouble(error), error, []).message).toContain('it said so');
  });
});
