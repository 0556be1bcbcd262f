import { configError } from './errors.js';
import type { RedisConnection } from './options.js';

/**
 * Reads a Redis URL. Done here and not by ioredis, which takes any option from the query string, the unsafe
 * ones too. A message never repeats a part of the URL: where a password holds a `#`, `/` or `?` that is not
 * percent-encoded, a piece of it looks like the host, the path or the query.
 *
 * @throws OffsetsError `OFFSETS_CONFIG`, without the URL in it or in its cause.
 */
export function connectionFromUrl(text: string, field = 'url'): RedisConnection {
  const url = parse(text, field);
  const rules: readonly (readonly [boolean, string])[] = [
    [url.protocol === 'redis:' || url.protocol === 'rediss:', 'must start with redis:// or rediss://'],
    [url.hostname !== '', 'must name a host'],
    [
      url.search === '',
      'must have no query string (further settings go to `connection`; a ? in a password is %3F)',
    ],
    [url.hash === '', 'must have no fragment (a # in a password is %23)'],
    [
      /^\/?\d{0,5}$/.test(url.pathname),
      'must end in the number of a database, if in a path (a / in a password is %2F)',
    ],
  ];
  for (const [holds, rule] of rules) if (!holds) throw configError(`redisOffsets.${field} ${rule}.`);
  const database = url.pathname.slice(1);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 6379),
    ...(database === '' ? {} : { db: Number(database) }),
    ...(url.username === '' ? {} : { username: decode(url.username, field) }),
    ...(url.password === '' ? {} : { password: decode(url.password, field) }),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
  };
}

function parse(text: string, field: string): URL {
  try {
    return new URL(text);
  } catch {
    // The error of URL has the text in it, so it does not become a cause.
    throw configError(
      `redisOffsets.${field} must be a URL like redis://[user:password@]host[:port][/database].`,
    );
  }
}

function decode(part: string, field: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw configError(
      `redisOffsets.${field} must have percent-encoded credentials (a % in a password is %25).`,
    );
  }
}
