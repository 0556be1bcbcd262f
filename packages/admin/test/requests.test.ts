import type { Pipeline } from '@strandline/pipeline';
import { StrandlineError } from '@strandline/core';
import { connect } from 'node:net';
import pino from 'pino';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { AdminServer, parseAddress } from '../src/index.js';
import { looked } from './looked.js';

const READERS = 50;
/** Longer than the address of a request may be by Node's default, and escaped three times as long. */
const LONG_KEY = '\u{1F600}'.repeat(30_000);

const lines: { readonly msg: string; readonly level: number }[] = [];
const log = pino(
  { level: 'debug' },
  { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) },
);
const servers: AdminServer[] = [];
const held: string[] = [];

/** Of the pipeline these requests need no more. */
function pipelineThat(parts: object = {}): Pipeline {
  const order = { by: 'x', at: 'y', note: '' };
  return {
    ...{ name: 'orders', status: looked, details: () => ({}), totals: () => ({}), deadLetters: null },
    ...{ source: { name: 'a source' }, offsets: { name: 'a store' } },
    key: (key: string) => Promise.resolve({ key }),
    control: {
      pause: () => Promise.resolve({ changed: true, paused: order }),
      hold: (key: string) => {
        held.push(key);
        return Promise.resolve({ changed: true, held: { key, ...order } });
      },
    },
    ...parts,
  } as unknown as Pipeline;
}

async function serving(pipeline = pipelineThat()): Promise<string> {
  const server = new AdminServer({ pipelines: [pipeline], address: parseAddress('0'), log });
  servers.push(server);
  return server.start();
}

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  lines.length = 0;
  held.length = 0;
});

/** What is answered to these bytes. */
async function bytes(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8');
  socket.write(text);
  let answer = '';
  for await (const part of socket) answer += String(part);
  return answer;
}

async function post(url: string, path: string, body: string): Promise<[number, unknown]> {
  const response = await fetch(`${url}/api/v1/pipelines/orders${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return [response.status, await response.json()];
}

describe('a body', () => {
  test.each(['', '{', '{"by":', '['.repeat(100_000), '{"by":"a"}{}'])(
    'that is no JSON is a wrong request, and nothing that nobody foresaw',
    async (body) => {
      expect(await post(await serving(), '/pause', body)).toMatchObject([400, { code: 'ADMIN_REQUEST' }]);
      expect(lines.filter(({ level }) => level >= 40)).toEqual([]);
    },
  );

  test.each(['null', '[]', '1', '"by"', '{"__proto__":{"by":"a"}}', '{"constructor":1}', '{"by":""}'])(
    '%s is a wrong request',
    async (body) => {
      expect(await post(await serving(), '/pause', body)).toMatchObject([400, { code: 'ADMIN_REQUEST' }]);
    },
  );

  test('that is too large is told as every problem is, also when its length is not', async () => {
    const url = await serving();
    const large = JSON.stringify({ note: 'x'.repeat(1_100_000) });
    expect(await post(url, '/pause', large)).toMatchObject([413, { code: 'ADMIN_TOO_LARGE' }]);
    const chunked = await bytes(
      url,
      `POST /api/v1/pipelines/orders/pause HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n` +
        `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n` +
        `${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`,
    );
    expect(chunked).toMatch(/^HTTP\/1\.1 413 .*ADMIN_TOO_LARGE/s);
  });

  test.each([
    '\u0000',
    '\ud800',
    '__proto__',
    '../',
    '%2f',
    '\u{1F600}',
    '\u202Ertl',
    'a\r\nb',
    'k'.repeat(1_024),
  ])('with the key %j is about that key', async (key) => {
    const [status] = await post(await serving(), '/keys/hold', JSON.stringify({ key }));
    expect([status, held]).toEqual([200, [key]]);
  });
});

describe('an address', () => {
  test.each(['\u0000', '__proto__', '../x', '%2f', LONG_KEY, '\u202Ertl', 'a&b=c#d?e+f g'])(
    'with a key of any kind finds it',
    async (key) => {
      const response = await fetch(
        `${await serving()}/api/v1/pipelines/orders/key?key=${encodeURIComponent(key)}`,
      );
      expect(response.status).toBe(200);
      expect(((await response.json()) as { key: string }).key === key).toBe(true);
    },
  );

  test.each([
    '/pipelines/__proto__',
    '/pipelines/%zz',
    '/pipelines/%E0%A4%A/key?key=%E0%A4%A',
    '/pipelines/a%2fb',
    '/pipelines/..%2f..',
  ])('%s leads nowhere', async (path) => {
    const response = await fetch(`${await serving()}/api/v1${path}`);
    expect([response.status, await response.json()]).toMatchObject([404, { code: 'ADMIN_NOT_FOUND' }]);
  });

  test.each([
    '/audit?limit=1&limit=2',
    '/audit?limit=-1',
    '/audit?limit=1e400',
    '/audit?limit=',
    '/pipelines/orders/key?key=a&key=b',
    '/pipelines/orders/key',
    '/pipelines/orders/letters?after=abc',
    '/pipelines/orders/letters?after=99999999999999999999',
    '/pipelines/orders/letters?olderThan=1e300',
  ])('%s is wrong', async (path) => {
    const response = await fetch(`${await serving()}/api/v1${path}`);
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'ADMIN_REQUEST' }]);
  });

  test.each(['/%61pi/v1/audit', '/x/../api/v1/audit', '//api/v1/audit', '/API/v1/audit', '/api%2fv1/audit'])(
    '%s does not go round the guard',
    async (path) => {
      const url = await serving();
      const answer = await bytes(
        url,
        `GET ${path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 40[04] /);
    },
  );

  test.each([
    ['GET http://evil.example/api/v1/audit HTTP/1.1\r\nHost: localhost'],
    ['GET http://localhost/api/v1/audit HTTP/1.1\r\nHost: evil.example'],
    ['GET /api/v1/audit HTTP/1.1\r\nHost: localhost\r\nHost: evil.example'],
    ['GET /api/v1/audit HTTP/1.1\r\nHost: evil.example\r\nHost: localhost'],
    ['GET /api/v1/audit HTTP/1.1\r\nHost: [::ffff:127.0.0.1]'],
    ['GET /api/v1/audit HTTP/1.1\r\nHost: localhost.'],
    ['GET /api/v1/audit HTTP/1.0'],
  ])('%j names another host than this one', async (head) => {
    const answer = await bytes(await serving(), `${head}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('a refused request', () => {
  test('is a line of the log, the first of its kind, and no entry of what was changed', async () => {
    const url = await serving();
    for (let n = 0; n < 3; n += 1) {
      const response = await fetch(`${url}/api/v1/audit`, { headers: { origin: 'https://evil.example' } });
      expect(response.status).toBe(403);
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect(lines.filter(({ msg }) => msg.startsWith('audit:'))).toMatchObject([
      { code: 'ADMIN_ORIGIN', method: 'GET', from: '127.0.0.1', untold: 0 },
    ]);
    expect(await (await fetch(`${url}/api/v1/audit`)).json()).toEqual({ entries: [] });
  });

  test('says how to ask where the token is missing', async () => {
    const server = new AdminServer({ pipelines: [], address: parseAddress('0'), log, token: 'a-token' });
    servers.push(server);
    const response = await fetch(`${await server.start()}/api/v1/audit`);
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="strandline"',
    ]);
  });
});

describe('what was changed', () => {
  test('is kept with the beginning of a long key, and logged with all of it', async () => {
    const url = await serving();
    await post(url, '/keys/hold', JSON.stringify({ key: LONG_KEY }));
    const { entries } = (await (await fetch(`${url}/api/v1/audit`)).json()) as {
      entries: { about: { key: string } }[];
    };
    expect(entries[0]?.about.key).toHaveLength(1_025);
    expect(JSON.stringify(lines).includes(LONG_KEY)).toBe(true);
  });

  test('is logged with the key as the pipeline logs keys', async () => {
    const disguised = pino(
      { redact: ['audit.about.key'] },
      { write: (line) => void lines.push(JSON.parse(line) as never) },
    );
    const url = await serving(pipelineThat({ log: disguised }));
    await post(url, '/keys/hold', '{"key":"4711"}');
    expect(JSON.stringify(lines)).toContain('audit: key.hold');
    expect(JSON.stringify(lines)).not.toContain('4711');
  });

  test('is written down with the code when it failed', async () => {
    const failed = new StrandlineError('OFFSETS_UNAVAILABLE', 'Away.', 'Wait.');
    const url = await serving(pipelineThat({ control: { pause: () => Promise.reject(failed) } }));
    expect(await post(url, '/pause', '{}')).toMatchObject([503, { code: 'OFFSETS_UNAVAILABLE' }]);
    expect(await (await fetch(`${url}/api/v1/audit`)).json()).toMatchObject({
      entries: [{ action: 'pipeline.pause', outcome: 'OFFSETS_UNAVAILABLE' }],
    });
  });

  test('that was not there is no change that was done', async () => {
    const bookmarks = { delete: () => Promise.resolve(false) };
    const url = await serving(pipelineThat({ bookmarks }));
    expect((await post(url, '/bookmarks/delete', '{"name":"x"}'))[0]).toBe(404);
    expect(await (await fetch(`${url}/api/v1/audit`)).json()).toMatchObject({
      entries: [{ action: 'bookmark.delete', outcome: 'ADMIN_NOT_FOUND' }],
    });
  });
});

describe('the stream of looks', () => {
  test('has as many places as before after readers who asked for its head alone, and after those who left', async () => {
    const url = `${await serving()}/api/v1/live`;
    for (let n = 0; n < READERS; n += 1) await fetch(url, { method: 'HEAD' });
    const readers = Array.from({ length: READERS + 5 }, () => new AbortController());
    const statuses = await Promise.all(
      readers.map(async ({ signal }) => (await fetch(url, { signal })).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(READERS);
    for (const reader of readers) reader.abort();
    await vi.waitFor(async () => {
      const last = new AbortController();
      const { status } = await fetch(url, { signal: last.signal });
      last.abort();
      expect(status).toBe(200);
    }, 10_000);
  });

  test('survives a look that fails, and says so', async () => {
    let fails = false;
    const details = (): object => {
      if (fails) throw new Error('a look');
      return {};
    };
    const url = await serving(pipelineThat({ details }));
    const reader = (await fetch(`${url}/api/v1/live`)).body?.getReader();
    await reader?.read();
    fails = true;
    await vi.waitFor(() => {
      expect(lines.some(({ msg }) => msg === 'a look at the pipelines has failed')).toBe(true);
    }, 10_000);
    fails = false;
    expect((await reader?.read())?.done).toBe(false);
    await reader?.cancel();
  });
});

test('what nothing answers to is told in time, and written down when it ends', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let end: (result: object) => void = () => undefined;
  const never = new Promise<object>((resolve) => (end = resolve));
  const url = await serving(pipelineThat({ control: { pause: () => never } }));
  const answer = post(url, '/pause', '{}');
  await vi.waitFor(() => {
    vi.advanceTimersByTime(1_000);
    expect(vi.getTimerCount()).toBeGreaterThan(0);
  });
  for (let n = 0; n < 40; n += 1) await vi.advanceTimersByTimeAsync(1_000);
  vi.useRealTimers();
  expect(await answer).toMatchObject([503, { code: 'ADMIN_LATE' }]);
  end({ changed: true, paused: { by: 'x', at: 'y', note: '' } });
  await vi.waitFor(async () => {
    expect(await (await fetch(`${url}/api/v1/audit`)).json()).toMatchObject({
      entries: [{ outcome: 'done' }],
    });
  });
});
