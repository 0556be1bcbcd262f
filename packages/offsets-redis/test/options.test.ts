import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { endpointOf } from '../src/endpoint.js';
import { redisOffsets, type RedisOffsetsOptions } from '../src/index.js';
import { validate } from '../src/validate.js';

const url = 'redis://host:6379';

describe('the name, without credentials', () => {
  const names: Readonly<Record<string, RedisOffsetsOptions>> = {
    'redis://host:6379': { url: 'redis://host' },
    'redis://host:7000/3': { url: 'redis://user:pa%2Fss@host:7000/3' },
    'rediss://[::1]:6379': { url: 'rediss://:secret@[::1]' },
    'redis://a.example:6380/1': {
      connection: { host: 'a.example', port: 6380, db: 1, username: 'u', password: 'p' },
    },
    'rediss://host:1': { connection: { host: 'host', port: 1, tls: {} } },
    'redis+unix:///run/redis.sock?db=2': { connection: { path: '/run/redis.sock', db: 2, password: 'p' } },
    'redis-sentinel://s1:26379,s2:7/shop': {
      connection: {
        sentinels: [{ host: 's1' }, { host: 's2', port: 7 }],
        name: 'shop',
        sentinelPassword: 'p',
      },
    },
    'redis-cluster://n1:6379,n2:7,n3:8,127.0.0.1:9': {
      cluster: { nodes: [{ host: 'n1' }, 'n2:7', 'redis://u:p@n3:8', 9] },
    },
  };
  for (const [name, options] of Object.entries(names)) {
    it(name, async () => {
      await using store = redisOffsets(options);
      expect(store.name).toBe(name);
    });
  }
});

it('a rediss URL and the certificates in `connection.tls` go together', () => {
  const tls = { ca: 'certificate' };
  const endpoint = (options: RedisOffsetsOptions) => endpointOf(validate(options));
  expect(endpoint({ url: 'rediss://host', connection: { tls } }).connection.tls).toEqual(tls);
  expect(endpoint({ url: 'redis://host', connection: { tls } })).toMatchObject({
    name: 'rediss://host:6379',
    connection: { tls, host: 'host' },
  });
});

it('what the URL of the first node of a cluster says holds for all that are found', () => {
  const nodes = ['rediss://user:p%40ss@n1:7000', 'n2'];
  expect(endpointOf(validate({ cluster: { nodes } }))).toMatchObject({
    nodes: [
      { host: 'n1', port: 7000 },
      { host: 'n2', port: 6379 },
    ],
    connection: { username: 'user', password: 'p@ss', tls: {} },
  });
});

describe('a wrong option is named, with its rule', () => {
  const cases: readonly (readonly [field: string, options: unknown, says: RegExp])[] = [
    ['nothing', undefined, /expected object/],
    ['no server', {}, /exactly one way where Redis is/],
    ['two servers', { url, connection: { sentinels: [{ host: 's' }], name: 'm' } }, /exactly one way/],
    ['an unknown option', { url, keyPrefx: 'x' }, /keyPrefx/],
    ['a commandTimeout of 0', { url, commandTimeout: 0 }, /commandTimeout is 0: must be at least 1 ms/],
    [
      'a fractional connectTimeout',
      { url, connectTimeout: 1.5 },
      /connectTimeout is 1.5: must be a whole number/,
    ],
    ['a commandTimeout without end', { url, commandTimeout: Infinity }, /commandTimeout is Infinity/],
    ['a commandTimeout of an hour', { url, commandTimeout: 3_600_000 }, /at most 600000 ms/],
    ['an empty keyPrefix', { url, keyPrefix: '' }, /keyPrefix is "": must not be empty/],
    ['a keyPrefix with a brace', { url, keyPrefix: 'a{b' }, /keyPrefix is "a\{b": .*braces/],
    ['replicas without a timeout', { url, replicas: { count: 1 } }, /replicas\.timeout is missing/],
    ['replicas that wait for ever', { url, replicas: { count: 1, timeout: 0 } }, /replicas\.timeout is 0/],
    ['no replica', { url, replicas: { count: 0, timeout: 1 } }, /replicas\.count is 0: must be at least 1/],
    [
      'replicas of a cluster',
      { cluster: { nodes: ['n:1'] }, replicas: { count: 1, timeout: 1 } },
      /replicas .*cluster/,
    ],
    ['a cluster without nodes', { cluster: { nodes: [] } }, /cluster\.nodes .*at least one node/],
    ['a node that is none', { cluster: { nodes: [true] } }, /cluster\.nodes\.0 must be a URL/],
    [
      'an offline queue',
      { url, connection: { enableOfflineQueue: true } },
      /enableOfflineQueue .*can not be set/,
    ],
    [
      'resending',
      { url, connection: { autoResendUnfulfilledCommands: true } },
      /autoResendUnfulfilledCommands/,
    ],
    ['a second prefix', { url, connection: { keyPrefix: 'x' } }, /connection\.keyPrefix .*can not be set/],
    ['reading replicas', { cluster: { nodes: ['n:1'], options: { scaleReads: 'slave' } } }, /scaleReads/],
    ['no URL', { url: 'localhost:6379' }, /redisOffsets\.url must start with redis/],
    ['garbage for a URL', { url: '::' }, /redisOffsets\.url must be a URL like redis/],
    ['another protocol', { url: 'https://host' }, /must start with redis:\/\/ or rediss:\/\//],
    ['a URL without host', { url: 'redis:///0' }, /must name a host/],
    ['a URL with options', { url: 'redis://host?enableOfflineQueue=true' }, /no query string/],
    ['a URL with a name for a database', { url: 'redis://host/shop' }, /number of a database/],
  ];
  for (const [what, options, says] of cases) {
    it(what, () => {
      expect(failureOf(options)).toMatchObject({
        code: 'OFFSETS_CONFIG',
        message: expect.stringMatching(says) as string,
      });
    });
  }
});

describe('a password that breaks its URL is not repeated', () => {
  for (const text of [
    'redis://user:s3cret#x@host:6379',
    'redis://user:s3cret/x@host:6379',
    'redis://user:s3cret?x@host:6379',
    'redis://user:1#s3cret@host:6379',
    'redis://user:1/s3cret@host:6379',
    'redis://user:1?s3cret@host:6379',
    'redis://user:s3cret%@host:6379',
    'redis://user:s3cret@host:port',
    'http://user:s3cret@host',
  ]) {
    it(text, () => {
      for (const options of [{ url: text }, { cluster: { nodes: [text] } }]) {
        const error = failureOf(options);
        expect(error).toMatchObject({ code: 'OFFSETS_CONFIG' });
        expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('s3cret');
      }
    });
  }
});

function failureOf(options: unknown): unknown {
  try {
    redisOffsets(options as RedisOffsetsOptions);
  } catch (error) {
    return error;
  }
  return expect.fail('no error');
}
