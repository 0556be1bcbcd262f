import { afterEach, describe, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { partsOf } from '../src/batches.js';
import { webhookBatch, type BatchWebhookHandler } from '../src/index.js';
import { context, event, failureOf, SECRET } from './fixtures.js';
import { TestReceiver } from './test-receiver.js';

const url = new URL('https://hooks.example.com/');
const ctx = context();
const events = ['1', '2', '3', '4', '5'].map((id) => event({ id }));
const one = { url, urlOf: () => url.href, origins: null, max: 100, maxBytes: 1_000_000 };
const idsOf = (parts: ReturnType<typeof partsOf>): string[] =>
  parts.map((part) => part.events.map(({ id }) => id).join('+'));

const made: BatchWebhookHandler[] = [];
afterEach(async () => {
  await Promise.all(made.splice(0).map((handler) => handler.close()));
});

describe('a batch is split, in order,', () => {
  const bytes = Buffer.byteLength(partsOf(events.slice(0, 1), one, ctx)[0]?.message.body ?? '') - 2;

  it.each<[string, Partial<typeof one> | object, string[]]>([
    ['not at all when it fits', {}, ['1+2+3+4+5']],
    ['by its count', { max: 2 }, ['1+2', '3+4', '5']],
    ['by its bytes', { maxBytes: 2 + 2 * (bytes + 1) }, ['1+2', '3+4', '5']],
    ['an event that is too large goes alone', { maxBytes: 1 }, ['1', '2', '3', '4', '5']],
    [
      'where it goes somewhere else',
      {
        url: null,
        urlOf: ({ id }: { id: string }) => (id === '3' ? 'https://a.example' : 'https://b.example'),
      },
      ['1+2', '3', '4+5'],
    ],
  ])('%s', (_, options, parts) => {
    expect(idsOf(partsOf(events, { ...one, ...options }, ctx))).toEqual(parts);
  });

  it('and none is larger than it may be', () => {
    const maxBytes = 3 * bytes;
    const parts = partsOf(events, { ...one, maxBytes }, ctx);
    expect(Math.max(...parts.map(({ message }) => message.body.length))).toBeLessThanOrEqual(maxBytes);
  });

  it('and is nothing when it is empty', () => {
    expect(partsOf([], one, ctx)).toEqual([]);
  });
});

it('the same events have the same id, others another one', () => {
  const idOf = (given: typeof events): unknown => partsOf(given, one, ctx)[0]?.message.id;
  expect(idOf(events)).toBe(idOf(events.map((given) => ({ ...given }))));
  expect(idOf(events)).not.toBe(idOf(events.slice(1)));
  expect(idOf(events)).not.toBe(idOf(events.toReversed()));
});

describe('a batch handler', () => {
  it('posts a signed array of envelopes, each with its own idempotency key', async () => {
    await using receiver = await TestReceiver.listen();
    const handle = webhookBatch({ url: receiver.url(), secret: SECRET });
    made.push(handle);
    await handle(events, context());
    const [request] = receiver.received;
    expect(receiver.received).toHaveLength(1);
    expect(request?.headers['idempotency-key']).toBe(request?.headers['webhook-id']);
    const verified = new Webhook(SECRET).verify(
      request?.body ?? '',
      request?.headers as Record<string, string>,
    ) as { idempotencyKey: string; data: unknown }[];
    expect(verified.map(({ idempotencyKey }) => idempotencyKey)).toEqual(
      events.map(({ id }) => `shop/public.outbox/${id}`),
    );
    expect(verified[0]?.data).toEqual({ cents: 1 });
  });

  it('goes on with the part that failed, and begins anew with the next delivery', async () => {
    await using receiver = await TestReceiver.listen();
    const handle = webhookBatch({ url: receiver.url(), secret: SECRET, max: 2 });
    made.push(handle);
    let failing = true;
    receiver.react = ({ body }, response) =>
      response.writeHead(failing && body.includes('"id":"3"') ? 500 : 204).end();
    expect((await failureOf(handle(events, context()))).code).toBe('WEBHOOK_STATUS');
    failing = false;
    await handle(events, context({ attempt: 2 }));
    await handle(events, context());
    const came = receiver.received.map(({ body }) =>
      (JSON.parse(body) as { id: string }[]).map(({ id }) => id).join('+'),
    );
    expect(came).toEqual(['1+2', '3+4', '3+4', '5', '1+2', '3+4', '5']);
  });
});
