import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../src/endpoint.js';
import type { OffsetsErrorCode } from '../src/errors.js';
import { explain } from '../src/failures.js';

const endpoint: Endpoint = {
  name: 'redis://host:6379',
  connection: {},
  nodes: undefined,
  secrets: ['s3cret'],
};

describe('what Redis answers has one meaning each', () => {
  const answers: readonly (readonly [answer: string, code: OffsetsErrorCode, says: string])[] = [
    ['WRONGPASS invalid username-password pair or user is disabled.', 'OFFSETS_AUTH', 'refused'],
    ['ERR invalid password', 'OFFSETS_AUTH', 'refused'], // Redis 5
    ['NOAUTH Authentication required.', 'OFFSETS_AUTH', 'none was given'],
    ['NOAUTH HELLO must be called with the client already authenticated', 'OFFSETS_AUTH', 'none was given'],
    ["NOPERM this user has no permissions to run the 'evalsha' command", 'OFFSETS_AUTH', 'ACL SETUSER'],
    ['NOPERM No permissions to access a key script: f00, on @user_script:4.', 'OFFSETS_AUTH', 'ACL SETUSER'],
    ['DENIED Redis is running in protected mode because …', 'OFFSETS_AUTH', 'protected mode'],
    ["READONLY You can't write against a read only replica. script: f00", 'OFFSETS_READONLY', 'sentinels'],
    ["ERR Error running script: @user_script: 9: -READONLY You can't write", 'OFFSETS_READONLY', 'replica'],
    ["OOM command not allowed when used memory > 'maxmemory'.", 'OFFSETS_UNAVAILABLE', 'maxmemory'],
    ['MISCONF Redis is configured to save RDB snapshots, but …', 'OFFSETS_UNAVAILABLE', 'disk'],
    ['MISCONF Errors writing to the AOF file: No space left on device', 'OFFSETS_UNAVAILABLE', 'disk'],
    ['LOADING Redis is loading the dataset in memory', 'OFFSETS_UNAVAILABLE', 'loading'],
    ['CLUSTERDOWN The cluster is down', 'OFFSETS_UNAVAILABLE', 'cluster'],
    ['MASTERDOWN Link with MASTER is down and …', 'OFFSETS_READONLY', 'replica'],
    ['NOREPLICAS Not enough good replicas to write.', 'OFFSETS_UNAVAILABLE', 'replication'],
    ['BUSY Redis is busy running a script.', 'OFFSETS_UNAVAILABLE', 'SCRIPT KILL'],
    ['ERR max number of clients reached', 'OFFSETS_UNAVAILABLE', 'maxclients'],
    ['WRONGTYPE Operation against a key holding the wrong kind of value', 'OFFSETS_CORRUPT', 'keyPrefix'],
    ['MOVED 3999 127.0.0.1:6381', 'OFFSETS_CONFIG', 'cluster'],
    ['ERR This instance has cluster support disabled', 'OFFSETS_CONFIG', 'no Redis Cluster'],
    ['ERR DB index is out of range', 'OFFSETS_CONFIG', 'databases'],
    ['connect ECONNREFUSED 127.0.0.1:6379', 'OFFSETS_UNAVAILABLE', 'ECONNREFUSED'],
    ['getaddrinfo ENOTFOUND host', 'OFFSETS_UNAVAILABLE', 'ENOTFOUND'],
    ['self-signed certificate', 'OFFSETS_UNAVAILABLE', 'TLS'],
  ];
  for (const [answer, code, says] of answers) {
    it(answer, () => {
      const error = explain(new Error(answer), endpoint);
      expect(error.code).toBe(code);
      expect(error.message).toContain('redis://host:6379');
      expect(error.message).toContain(says);
    });
  }
});

it('the reason of a broken connection is what it said before', () => {
  const reason = Object.assign(new Error('connect ETIMEDOUT 10.0.0.1:6379'), { code: 'ETIMEDOUT' });
  const error = explain(new Error('Connection is closed.'), endpoint, reason);
  expect(error.message).toContain('ETIMEDOUT');
  expect(error.cause).toMatchObject({ code: 'ETIMEDOUT' });
  expect(explain(new Error('Connection is closed.'), endpoint).message).toContain('the connection was lost');
});

it('the reasons of all addresses of a host are told', () => {
  const tried = [
    new Error('connect ECONNREFUSED ::1:6379'),
    new Error('connect ECONNREFUSED 127.0.0.1:6379'),
  ];
  expect(explain(new AggregateError(tried), endpoint).message).toMatch(/::1:6379, .*127\.0\.0\.1:6379/);
});

it('no credential gets through, neither from the command nor from the answer', () => {
  const answer = Object.assign(
    new Error("ERR unknown command 'HELLO', with args beginning with: 'AUTH' 's3cret'"),
    {
      command: { name: 'hello', args: ['3', 'AUTH', 'default', 's3cret'] },
    },
  );
  for (const error of [
    explain(answer, endpoint),
    explain(new Error('Connection is closed.'), endpoint, answer),
  ]) {
    expect(error.cause).toBeInstanceOf(Error);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('s3cret');
  }
});
