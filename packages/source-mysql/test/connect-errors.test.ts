import { describe, expect, it } from 'vitest';
import { connectError, errnoOf, isTransient } from '../src/connect-errors.js';
import { mysqlError } from '../src/errors.js';
import { containing } from './matchers.js';

const TARGET = 'db.example:3306';

function serverError(errno: number, message = `server says ${String(errno)}`): Error {
  return Object.assign(new Error(message), { errno, code: 'ER_SOMETHING' });
}

function networkError(code: string): Error {
  return Object.assign(new Error(`connect ${code} 127.0.0.1:1`), { code, errno: -111 });
}

describe('a failed connect', () => {
  it.each<[string, Error, string]>([
    ['a wrong password', serverError(1045), 'MYSQL_AUTHENTICATION'],
    ['no right to the database', serverError(1044), 'MYSQL_AUTHENTICATION'],
    ['an old way to log in', serverError(1251), 'MYSQL_AUTHENTICATION'],
    ['a missing database', serverError(1049), 'MYSQL_DATABASE_MISSING'],
    ['no right to the table', serverError(1142), 'MYSQL_PRIVILEGE'],
    ['no right to replicate', serverError(1227), 'MYSQL_PRIVILEGE'],
    ['nobody there', networkError('ECONNREFUSED'), 'MYSQL_UNREACHABLE'],
    ['no such host', networkError('ENOTFOUND'), 'MYSQL_UNREACHABLE'],
    ['a time-out', networkError('ETIMEDOUT'), 'MYSQL_UNREACHABLE'],
    ['too many connections', serverError(1040), 'MYSQL_UNREACHABLE'],
  ])('%s', (_, cause, code) => {
    const error = connectError(cause, TARGET);
    expect(error).toMatchObject({ code, cause });
    expect(error.message).toContain(cause.message);
    expect(error.message).toContain(TARGET);
    expect(error.message.endsWith(error.remedy)).toBe(true);
  });

  it('of all addresses of a host tells of the first', () => {
    const cause = new AggregateError([networkError('ECONNREFUSED'), networkError('ENETUNREACH')]);
    expect(connectError(cause, TARGET)).toMatchObject({
      code: 'MYSQL_UNREACHABLE',
      message: containing('ECONNREFUSED'),
    });
  });

  it('that was explained already stays as it is', () => {
    const error = mysqlError('MYSQL_VERSION', 'Old.', 'Upgrade.');
    expect(connectError(error, TARGET)).toBe(error);
  });
});

describe('what can come right by itself', () => {
  it.each<[string, unknown, boolean]>([
    ['a shutdown', serverError(1053), true],
    ['a killed session of MySQL', serverError(3169), true],
    ['a killed session of MariaDB', serverError(1927), true],
    ['a deadlock', serverError(1213), true],
    ['nobody there', networkError('ECONNREFUSED'), true],
    ['a cut', networkError('ECONNRESET'), true],
    ['a connection that ended', new Error('Connection lost: the server ended it'), true],
    ['a wrong certificate', networkError('CERT_HAS_EXPIRED'), false],
    ['a syntax error', serverError(1064), false],
    ['a purged log', serverError(1236), false],
    ['a fault of our own', new TypeError('x is not a function'), false],
    ['one of ours that says so', mysqlError('MYSQL_UNREACHABLE', 'x', 'y', { transient: true }), true],
    ['one of ours that does not', mysqlError('MYSQL_DECODE', 'x', 'y'), false],
  ])('%s', (_, error, transient) => {
    expect(isTransient(error)).toBe(transient);
  });
});

it('the number of an error is 0 where there is none', () => {
  expect([errnoOf(serverError(1236)), errnoOf(new Error('x')), errnoOf('text')]).toEqual([1236, 0, 0]);
});
