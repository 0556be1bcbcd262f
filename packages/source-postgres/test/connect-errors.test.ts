import { describe, expect, it } from 'vitest';
import { connectError, errorCodeOf, isTransient } from '../src/connect-errors.js';
import { postgresError } from '../src/errors.js';
import { containing } from './matchers.js';

const TARGET = 'db.example:5432/shop';

function serverError(code: string, message = `server says ${code}`): Error {
  return Object.assign(new Error(message), { code, severity: 'FATAL' });
}

describe('a failed connect', () => {
  it.each<[string, Error, string]>([
    ['a wrong password', serverError('28P01'), 'PG_AUTHENTICATION'],
    ['no line in pg_hba.conf', serverError('28000', 'no pg_hba.conf entry for host'), 'PG_AUTHENTICATION'],
    ['a missing database', serverError('3D000'), 'PG_DATABASE_MISSING'],
    ['no right to replicate', serverError('42501', 'permission denied to start WAL sender'), 'PG_PRIVILEGE'],
    ['PgBouncer', serverError('08P01', 'unsupported startup parameter: replication'), 'PG_POOLER'],
    ['PgBouncer by name', serverError('08P01', 'pgbouncer cannot connect to server'), 'PG_POOLER'],
    [
      'a pooler that passes the session on',
      serverError('42601', 'syntax error at or near "IDENTIFY_SYSTEM"'),
      'PG_POOLER',
    ],
    ['another pooler', serverError('0A000', 'replication connections are not supported'), 'PG_POOLER'],
    ['nobody there', serverError('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1'), 'PG_UNREACHABLE'],
    ['no such host', serverError('ENOTFOUND', 'getaddrinfo ENOTFOUND db.example'), 'PG_UNREACHABLE'],
    ['a time-out', new Error('timeout expired'), 'PG_UNREACHABLE'],
    ['a server that starts up', serverError('57P03', 'the database system is starting up'), 'PG_UNREACHABLE'],
    ['too many connections', serverError('53300', 'sorry, too many clients already'), 'PG_UNREACHABLE'],
  ])('%s', (_, cause, code) => {
    const error = connectError(cause, TARGET);
    expect(error).toMatchObject({ code, cause });
    // What happened, where, in the server's own words, and what to do.
    expect(error.message).toContain(cause.message);
    expect(error.message).toContain(TARGET);
    expect(error.remedy.length).toBeGreaterThan(20);
    expect(error.message.endsWith(error.remedy)).toBe(true);
  });

  it('of a host with several addresses is told by the first of them', () => {
    const cause = new AggregateError([
      serverError('ECONNREFUSED', 'connect ECONNREFUSED ::1:5432'),
      serverError('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432'),
    ]);
    expect(connectError(cause, TARGET)).toMatchObject({
      code: 'PG_UNREACHABLE',
      message: containing('ECONNREFUSED ::1:5432'),
    });
    expect(errorCodeOf(cause)).toBe('ECONNREFUSED');
  });

  it('that was explained already stays as it is', () => {
    const error = postgresError('PG_VERSION', 'Too old.', 'Upgrade.');
    expect(connectError(error, TARGET)).toBe(error);
  });

  it('may be anything that was thrown', () => {
    expect(connectError('odd', TARGET)).toMatchObject({
      code: 'PG_UNREACHABLE',
      message: containing('odd'),
    });
  });
});

describe('what may come right by itself', () => {
  it.each<[string, unknown]>([
    ['a reset connection', serverError('ECONNRESET', 'read ECONNRESET')],
    ['a refused one', serverError('ECONNREFUSED')],
    ['a name that is not resolved for now', serverError('EAI_AGAIN')],
    ['a broken pipe', serverError('EPIPE')],
    ['a route that is gone', serverError('EHOSTUNREACH')],
    ['an end without a code', new Error('Connection terminated unexpectedly')],
    [
      'pg on a client that broke before',
      new Error('Client has encountered a connection error and is not queryable'),
    ],
    ['a time-out without a code', new Error('timeout expired')],
    ['an administrator’s shutdown', serverError('57P01')],
    ['a crash of another backend', serverError('57P02')],
    ['a start-up', serverError('57P03')],
    ['connection failures by SQLSTATE', serverError('08006')],
    ['too many connections', serverError('53300')],
    ['a full disk', serverError('53100')],
    ['a serialization failure', serverError('40001')],
    ['a slot that somebody reads', serverError('55006')],
    ['an I/O error of the server', serverError('58030')],
    ['an explained one of these', connectError(serverError('ECONNREFUSED'), TARGET)],
  ])('%s', (_, error) => {
    expect(isTransient(error)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['a wrong password', serverError('28P01')],
    ['an explained one', connectError(serverError('28P01'), TARGET)],
    ['a pooler', connectError(serverError('08P01', 'unsupported startup parameter: replication'), TARGET)],
    ['a missing object', serverError('42704')],
    ['an invalidated slot', serverError('55000')],
    ['a removed piece of the log', serverError('58P01', 'requested WAL segment has already been removed')],
    ['a syntax error', serverError('42601')],
    ['an exhausted number of slots is for the operator', postgresError('PG_SLOT_LIMIT', 'a', 'b')],
    ['a certificate that expired', serverError('CERT_HAS_EXPIRED')],
    ['an explained certificate', connectError(serverError('DEPTH_ZERO_SELF_SIGNED_CERT'), TARGET)],
    ['a name in a certificate', serverError('ERR_TLS_CERT_ALTNAME_INVALID')],
    ['a fault of our own', new TypeError("Cannot read properties of undefined (reading 'x')")],
    ['something thrown that is no error', 'odd'],
  ])('not: %s', (_, error) => {
    expect(isTransient(error)).toBe(false);
  });
});
