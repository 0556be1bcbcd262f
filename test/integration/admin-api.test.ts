/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-argument, typescript/no-unsafe-call --
   answers are read as whoever uses the API reads them */
import { AdminServer, parseAddress } from '@strandline/admin';
import { startRedis } from '@strandline/servers';
import type { DatabaseKind } from '@strandline/test-kit';
import {
  TestLog,
  testOutbox,
  testRedis,
  waitUntil,
  type TestOutbox,
  type TestRedis,
} from '@strandline/test-kit';
import {
  deadLetters,
  definePipeline,
  mysql,
  PermanentError,
  postgres,
  redisOffsets,
  type Pipeline,
  type Source,
} from 'strandline';
import { describe, expect, test } from 'vitest';

const PAYLOAD = '<script>alert("the payload of 4711")</script>';

interface Answer {
  readonly status: number;
  // Read as whoever uses the API does.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

/** A pipeline with its admin server: key \`bad\` fails for good, \`slow\` waits for \`let go\`, \`flaky\` fails until it is mended. */
class Shop implements AsyncDisposable {
  readonly handled: string[] = [];
  readonly log = new TestLog();
  readonly pipeline: Pipeline;
  readonly server: AdminServer;
  mended = false;
  letGo: () => void = () => undefined;
  url = '';

  /** @param patience milliseconds that the offset store has to answer */
  constructor(kind: DatabaseKind, outbox: TestOutbox, redis: TestRedis, patience = 5_000) {
    const gone = new Promise<void>((resolve) => (this.letGo = resolve));
    const url = outbox.url;
    this.pipeline = definePipeline({
      name: 'orders',
      source: sourceOf(outbox),
      offsets: redisOffsets({
        ...{ url: redis.url, keyPrefix: redis.prefix },
        ...{ connectTimeout: patience, commandTimeout: patience },
      }),
      deadLetters: deadLetters(kind === 'postgres' ? { postgres: { url } } : { mysql: { url } }),
      retry: { initialDelay: 3_600_000, maxDelay: 3_600_000, jitter: 'none' },
      log: this.log,
      handle: async ({ key, id }) => {
        if (key === 'odd') throw Object.assign(new PermanentError('x'), { message: { body: 4_711 } });
        if (key === 'bad') throw new PermanentError('no stock');
        if (key === 'slow') await gone;
        if (key === 'flaky' && !this.mended) throw new TypeError('not yet');
        this.handled.push(`${key}${id}`);
      },
    });
    this.server = new AdminServer({ pipelines: [this.pipeline], address: parseAddress('0'), log: this.log });
  }

  async start(): Promise<void> {
    await this.pipeline.start();
    this.url = `${await this.server.start()}/api/v1`;
  }

  async get(path: string): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`);
    return { status: response.status, body: await response.json() };
  }

  async post(path: string, body: object): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.letGo();
    await this.server.stop();
    await this.pipeline.stop();
  }
}

/** With as much log as a replay reads. */
function sourceOf(outbox: TestOutbox): Source {
  const choice = outbox.sourceChoice();
  return 'mysql' in choice
    ? mysql(choice.mysql)
    : postgres({ ...choice.postgres, retention: { age: 3_600_000 } });
}

describe.each(['postgres', 'mysql'] as const)('the admin API on %s', (kind) => {
  test('finds what is stuck, why, since when and what it holds up, and does what is asked', async () => {
    await using outbox = await testOutbox(kind);
    await using redis = await testRedis();
    await using shop = new Shop(kind, outbox, redis);
    await shop.start();
    const payload = JSON.stringify({ text: PAYLOAD });
    const [, flaky] = await outbox.insert(
      ['slow', 'flaky', 'flaky', 'bad', 'bad', 'fine'].map((key) => ({ key, payload })),
    );
    await waitUntil('the bad ones are stored', async () => {
      const { body } = await shop.get('/pipelines/orders/letters');
      return body.counts.waiting === 2;
    });

    const failing = await shop.get('/pipelines/orders/strands?sort=failing');
    expect(failing.body.strands).toMatchObject([
      { key: 'flaky', state: 'backoff', depth: 2, lastError: { name: 'TypeError', message: 'not yet' } },
    ]);
    expect(failing.body.strands[0].holdsUp.behind).toBe(1);
    expect(failing.body.strands[0].history).toMatchObject([
      { first: 1, last: 1, error: { name: 'TypeError', message: 'not yet' } },
    ]);
    const slowest = await shop.get('/pipelines/orders/strands?sort=slowest');
    expect(slowest.body.strands).toMatchObject([
      { key: 'slow', state: 'running', holdsUp: { watermark: {} } },
    ]);
    const key = await shop.get('/pipelines/orders/key?key=flaky');
    expect(key.body.waiting.map(({ id }: { id: string }) => id)).toHaveLength(2);
    expect(key.body.happenings).toMatchObject([{ what: 'failed', error: { message: 'not yet' } }]);
    expect(JSON.stringify([failing.body, key.body])).not.toContain('4711');
    const { position } = key.body.waiting[0];
    const shown = await shop.get(
      `/pipelines/orders/payload?key=flaky&position=${encodeURIComponent(position)}`,
    );
    expect(JSON.parse(shown.body.text)).toEqual({ text: PAYLOAD });

    const held = await shop.post('/pipelines/orders/keys/hold', {
      key: 'fine',
      by: 'an operator',
      note: 'why',
    });
    expect(held.body).toMatchObject({ changed: true, held: { key: 'fine', by: 'an operator', note: 'why' } });
    const [, fine] = await outbox.insert([{ key: 'other' }, { key: 'fine' }]);
    await waitUntil('the others go on', () => shop.handled.some((one) => one.startsWith('other')));
    expect(shop.handled).not.toContain(`fine${String(fine)}`);
    await shop.post('/pipelines/orders/keys/release', { key: 'fine' });
    await waitUntil('it goes on', () => shop.handled.includes(`fine${String(fine)}`));

    shop.mended = true;
    const retried = await shop.post('/pipelines/orders/keys/retry', { key: 'flaky', position });
    expect(retried).toMatchObject({ status: 200, body: { position, outcome: 'done' } });
    await waitUntil('it drains', () => shop.handled.filter((one) => one.startsWith('flaky')).length === 2);
    expect(shop.handled.find((one) => one.startsWith('flaky'))).toBe(`flaky${String(flaky)}`);

    const [letter] = (await shop.get('/pipelines/orders/letters?key=bad&error=stock')).body.letters;
    expect(letter).toMatchObject({
      reason: 'failed',
      failure: {
        ...{ attempts: 1, error: { message: 'no stock' } },
        history: [{ first: 1, last: 1, error: { message: 'no stock' } }],
      },
    });
    const ofLetter = await shop.get(`/pipelines/orders/letters/${String(letter.id)}/payload`);
    expect(JSON.parse(ofLetter.body.text)).toEqual({ text: PAYLOAD });
    expect((await shop.post('/pipelines/orders/letters/retry', {})).body.code).toBe('ADMIN_REQUEST');
    const other = await shop.post('/pipelines/orders/letters/skip', { key: 'bad', letter: '999999' });
    expect(other).toMatchObject({ status: 404, body: { code: 'ADMIN_NOT_FOUND' } });
    expect((await shop.post('/pipelines/orders/letters/skip', { key: 'bad' })).body.skipped.id).toBe(
      letter.id,
    );
    await waitUntil('the second one is parked anew', async () => {
      const { body } = await shop.get('/pipelines/orders/letters?key=bad&state=waiting');
      return body.letters.length === 1 && body.letters[0].failure !== null;
    });
    expect((await shop.post('/pipelines/orders/letters/discard', { key: 'bad' })).body.discarded).toBe(2);

    const audit = (await shop.get('/audit')).body.entries;
    expect(audit.map(({ action }: { action: string }) => action)).toEqual([
      ...['letters.discard', 'letters.skip', 'letters.skip', 'letters.retry'],
      ...['key.retry', 'key.release', 'key.hold'],
    ]);
    expect(audit[2]).toMatchObject({ about: { letter: '999999' }, outcome: 'ADMIN_NOT_FOUND' });
    expect(audit[3]).toMatchObject({ outcome: 'ADMIN_REQUEST' });
    expect(audit.at(-1)).toMatchObject({ by: 'an operator', about: { key: 'fine' }, outcome: 'done' });
    expect(shop.log.lines.filter(({ message }) => message.startsWith('audit:'))).toHaveLength(7);
  });

  test('bookmarks, replays, pausing, and what is told once a second', async () => {
    await using outbox = await testOutbox(kind);
    await using redis = await testRedis();
    await using shop = new Shop(kind, outbox, redis);
    await shop.start();
    await outbox.insert([{ key: 'a' }]);
    await waitUntil('it is handled', () => shop.handled.length === 1);
    const live = await fetch(`${shop.url}/live`);
    const reader = live.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toMatch(
      /^event: look\ndata: \{"at":"[^"]+","pipelines":\[\{"name":"orders"/,
    );
    await reader?.cancel();

    expect((await shop.post('/pipelines/orders/bookmarks', { name: 'deploy' })).status).toBe(200);
    expect((await shop.get('/pipelines/orders/bookmarks')).body.bookmarks).toMatchObject([
      { name: 'deploy' },
    ]);
    await outbox.insert([{ key: 'b' }, { key: 'c' }]);
    await waitUntil('they are handled', () => shop.handled.length === 3);
    const before = [...shop.handled];
    const started = await shop.post('/pipelines/orders/replays', { from: { bookmark: 'deploy' } });
    expect(started, JSON.stringify(started.body)).toMatchObject({
      status: 200,
      body: { name: 'orders-replay' },
    });
    await waitUntil('it is replayed', async () => {
      const { body } = await shop.get('/pipelines/orders/replays');
      return body.replays[0].state === 'completed';
    });
    expect(shop.handled.slice(3).toSorted()).toEqual(before.slice(1).toSorted());

    expect((await shop.post('/pipelines/orders/pause', { by: 'me', note: 'deploy' })).body.paused.by).toBe(
      'me',
    );
    await outbox.insert([{ key: 'd' }]);
    await waitUntil('it waits', async () => (await shop.get('/pipelines/orders/strands')).body.live === 1);
    expect(shop.handled).toHaveLength(5);
    expect((await shop.get('/pipelines/orders')).body.controls.paused).toMatchObject({
      by: 'me',
      note: 'deploy',
    });
    expect((await shop.post('/pipelines/orders/resume', {})).body.was).toMatchObject({ by: 'me' });
    await waitUntil('it goes on', () => shop.handled.length === 6);
    await waitUntil('the offset is shown', async () => {
      const { body } = await shop.get('/pipelines/orders/offset');
      return body.offset?.log?.head !== undefined;
    });
  });
});

test('what is wrong is told with a code and a remedy, and every route is described', async () => {
  await using outbox = await testOutbox('postgres');
  await using redis = await testRedis();
  await using shop = new Shop('postgres', outbox, redis);
  await shop.start();
  const wrong: readonly [() => Promise<Answer>, number, string][] = [
    [() => shop.get('/pipelines/none'), 404, 'ADMIN_NOT_FOUND'],
    [() => shop.get('/nowhere'), 404, 'ADMIN_NOT_FOUND'],
    [() => shop.get('/pipelines/orders/strands?sort=weight'), 400, 'ADMIN_REQUEST'],
    [() => shop.get('/pipelines/orders/strands?after=x'), 400, 'PIPELINE_CONTROL'],
    [() => shop.post('/pipelines/orders/keys/retry', { key: 'none' }), 404, 'PIPELINE_KEY_UNKNOWN'],
    [() => shop.post('/pipelines/orders/keys/hold', { key: 'a', forever: true }), 400, 'ADMIN_REQUEST'],
    [() => shop.post('/pipelines/orders/bookmarks', { name: 'a b' }), 400, 'PIPELINE_BOOKMARK'],
    [() => shop.post('/pipelines/orders/replays', { from: { bookmark: 'none' } }), 404, 'REPLAY_BOOKMARK'],
    [() => shop.get('/pipelines/orders/letters/4711'), 404, 'ADMIN_NOT_FOUND'],
    [() => shop.get('/pipelines/orders/letters/99999999999999999999'), 404, 'ADMIN_NOT_FOUND'],
    [() => shop.get('/pipelines/orders/letters?after=x'), 400, 'ADMIN_REQUEST'],
    [() => shop.post('/pipelines/orders/letters/retry', { olderThan: 1e300 }), 400, 'ADMIN_REQUEST'],
    [
      () => shop.post('/pipelines/orders/bookmarks', { name: 'a', position: 'nowhere' }),
      ...([400, 'PG_POSITION'] as const),
    ],
  ];
  for (const [answer, status, code] of wrong) {
    const { status: found, body } = await answer();
    expect([found, body.code]).toEqual([status, code]);
    expect(body.remedy).toEqual(expect.any(String));
  }
  const { body: described } = await shop.get('/openapi.json');
  expect(described.openapi).toBe('3.1.0');
  expect(Object.keys(described.paths)).toHaveLength(26);
  const form = await fetch(`${shop.url}/pipelines/orders/pause`, {
    method: 'POST',
    body: new URLSearchParams(),
  });
  expect(form.status).toBe(415);
  await shop.pipeline.stop();
  for (const path of ['', '/letters', '/bookmarks', '/strands', '/key?key=a', '/offset'])
    expect([path, (await shop.get(`/pipelines/orders${path}`)).status]).toEqual([path, 409]);
});

test('a standby and an idle owner are not ready while the offset store is away, and nothing that is asked of them waits for ever', async () => {
  await using outbox = await testOutbox('postgres');
  await using server = await startRedis({ exclusive: true });
  const redis = { url: server.url, prefix: 'away' } as TestRedis;
  await using owner = new Shop('postgres', outbox, redis, 500);
  await using standby = new Shop('postgres', outbox, redis, 500);
  await owner.start();
  await standby.start();
  const readyz = async ({ url }: Shop): Promise<number> => (await fetch(new URL('/readyz', url))).status;
  expect([await readyz(owner), await readyz(standby)]).toEqual([200, 200]);
  await server.kill();
  await waitUntil('they are not ready', async () => {
    const found = [await readyz(owner), await readyz(standby)];
    return found.every((status) => status === 503);
  });
  for (const shop of [owner, standby]) {
    const { status, body } = await shop.post('/pipelines/orders/keys/hold', { key: 'a' });
    expect([status, body.code]).toEqual([503, 'OFFSETS_UNAVAILABLE']);
    expect((await shop.get('/audit')).body.entries).toMatchObject([{ outcome: 'OFFSETS_UNAVAILABLE' }]);
  }
  // What the owner knows by itself is told all the same.
  expect((await owner.get('/pipelines/orders/strands')).status).toBe(200);
  expect((await owner.get('/pipelines/orders/key?key=a')).status).toBe(200);
  await server.start();
  await waitUntil(
    'they are ready again',
    async () => (await readyz(owner)) + (await readyz(standby)) === 400,
  );
});

test('errors that are filled with anything park their key like others', async () => {
  await using outbox = await testOutbox('postgres');
  await using redis = await testRedis();
  await using shop = new Shop('postgres', outbox, redis);
  await shop.start();
  await outbox.insert([{ key: 'odd' }, { key: 'fine' }]);
  await waitUntil('it is parked, and others go on', async () => {
    const { body } = await shop.get('/pipelines/orders/letters');
    return body.counts.waiting === 1 && shop.handled.length === 1;
  });
  const { body } = await shop.get('/pipelines/orders/key?key=odd');
  expect(body.happenings[0]).toMatchObject({
    what: 'failed',
    error: { message: '(a message that is no text)' },
  });
  expect(JSON.stringify(body)).not.toContain('4711');
});
