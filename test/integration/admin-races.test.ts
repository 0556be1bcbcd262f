import { AdminServer, parseAddress } from '@strandline/admin';
import { Random, TestLog, testOutbox, testRedis, waitUntil } from '@strandline/test-kit';
import { deadLetters, definePipeline, postgres, redisOffsets, type Pipeline } from 'strandline';
import { expect, test } from 'vitest';

const KEYS = ['a', 'b', 'c', 'd', '__proto__', '../%2f', '\u{1F600}', '\u202Ertl'];
const EVENTS = 25;
const OPERATORS = 4;

/** What operators do who get in each other's way. */
const ORDERS = [
  'keys/hold',
  'keys/release',
  'keys/park',
  'keys/retry',
  'letters/retry',
  'pause',
  'resume',
] as const;

test("operators who get in each other's way over two processes lose nothing and change no order, also when the owner stops", async () => {
  await using outbox = await testOutbox('postgres');
  await using redis = await testRedis();
  const log = new TestLog();
  const handled: { readonly key: string; readonly id: number }[] = [];
  const failed = new Set<string>();
  const process = (): { readonly pipeline: Pipeline; readonly server: AdminServer } => {
    const pipeline = definePipeline({
      name: 'orders',
      source: postgres({
        ...(outbox.sourceChoice() as { postgres: Parameters<typeof postgres>[0] }).postgres,
      }),
      offsets: redisOffsets({ url: redis.url, keyPrefix: redis.prefix }),
      deadLetters: deadLetters({ postgres: { url: outbox.url } }),
      parking: { poll: 50 },
      retry: { initialDelay: 20, maxDelay: 20 },
      log,
      handle: async ({ key, id }) => {
        await new Promise((resolve) => setImmediate(resolve));
        // Every third event fails once.
        if (Number(id) % 3 === 0 && !failed.has(id)) {
          failed.add(id);
          throw new Error('once');
        }
        handled.push({ key, id: Number(id) });
      },
    });
    return { pipeline, server: new AdminServer({ pipelines: [pipeline], address: parseAddress('0'), log }) };
  };
  const [first, second] = [process(), process()];
  await using _stopped = {
    [Symbol.asyncDispose]: async () => {
      for (const { server, pipeline } of [first, second]) {
        await server.stop();
        await pipeline.stop();
      }
    },
  };
  await first.pipeline.start();
  await second.pipeline.start();
  const urls = [await first.server.start(), await second.server.start()];
  const random = new Random(4_711);
  const answers = new Map<number, number>();
  const order = async (url: string, what: string, key: string): Promise<number> => {
    const body = what === 'pause' || what === 'resume' ? {} : { key };
    const response = await fetch(`${url}/api/v1/pipelines/orders/${what}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    return response.status;
  };
  let over = false;
  const operators = Array.from({ length: OPERATORS }, async () => {
    while (!over) {
      const status = await order(random.pick(urls), random.pick(ORDERS), random.pick(KEYS));
      answers.set(status, (answers.get(status) ?? 0) + 1);
    }
  });
  for (let n = 0; n < EVENTS; n += 1) {
    await outbox.insert(KEYS.map((key) => ({ key })));
    if (n === 12) await first.pipeline.stop();
  }
  over = true;
  await Promise.all(operators);
  const [, url = ''] = urls;
  await waitUntil('the other process owns it', () => second.pipeline.status().state === 'running');
  expect(await order(url, 'resume', '')).toBe(200);
  for (const key of KEYS) expect(await order(url, 'keys/release', key)).toBe(200);
  await waitUntil('all is handled', async () => {
    for (const key of KEYS) await order(url, 'letters/retry', key);
    return new Set(handled.map(({ id }) => id)).size === KEYS.length * EVENTS;
  });
  for (const key of KEYS) {
    const ids = handled.filter((one) => one.key === key).map(({ id }) => id);
    const firsts = [...new Set(ids)];
    expect(firsts, `events of ${key}`).toEqual(firsts.toSorted((a, b) => a - b));
  }
  // Whatever was asked, nothing went wrong that nobody foresaw.
  expect([...answers.keys()].filter((status) => ![200, 404, 409, 503].includes(status))).toEqual([]);
  expect(log.count('a request has failed')).toBe(0);
});
