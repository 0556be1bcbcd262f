import { describe, expect, it } from 'vitest';
import { envelopeOf } from '../src/envelope.js';
import { headerText } from '../src/header-text.js';
import { messageOf } from '../src/message.js';
import { context, event } from './fixtures.js';

const url = new URL('https://hooks.example.com/orders');
const ctx = context();
const envelope = { body: 'envelope' } as const;
const payload = { body: 'payload' } as const;

describe('an envelope', () => {
  it('has what Standard Webhooks asks for, what names and orders the event, and the payload as it was printed', () => {
    const payloadText = '{"n": 12345678901234567890.10, "n2":1e400}';
    expect(envelopeOf(event({ payloadText }), 'shop/public.outbox/42')).toBe(
      '{"id":"42","idempotencyKey":"shop/public.outbox/42","type":"order.placed",' +
        '"timestamp":"2026-01-01T00:00:00.000000Z","key":"order-1","position":"16/B374D848:3",' +
        `"data":${payloadText}}`,
    );
  });

  it.each([
    ['NULL', { payloadText: null }, null],
    ['text', { payloadText: 'a "b"\n', payloadFormat: 'text' as const }, 'a "b"\n'],
    [
      'bytes, in base64',
      { payloadText: '\\xff00', payloadFormat: 'bytes' as const, payload: Buffer.from([255, 0]) },
      '/wA=',
    ],
    ['no type', { payloadText: '1', type: null }, 1],
  ])('takes %s', (_, overrides, data) => {
    const text = envelopeOf(event(overrides), 'k');
    expect(JSON.parse(text)).toMatchObject({ data, id: '42' });
  });

  it.each(['{"a":1},"type":"forged"', '', 'card 4111', '{"a":1}}'])(
    'is none when the payload is not the JSON that it should be, and the error shows nothing of it: %j',
    (payloadText) => {
      try {
        envelopeOf(event({ payloadText }), 'k');
        expect.unreachable();
      } catch (error) {
        expect(error).toMatchObject({ name: 'PermanentError', code: 'WEBHOOK_PAYLOAD' });
        expect((error as Error).cause).toBeUndefined();
        if (payloadText !== '') expect(String(error)).not.toContain(payloadText);
      }
    },
  );
});

describe('a message', () => {
  it('has the same id and body at every attempt, and another id for another event', () => {
    const [first, again] = [1, 2].map((attempt) => messageOf(event(), url, envelope, context({ attempt })));
    expect(again).toEqual(first);
    expect(messageOf(event({ id: '43' }), url, envelope, ctx).id).not.toBe(first?.id);
  });

  it('has an id without the full stops that Standard Webhooks forbids, and the idempotency key as it is', () => {
    const { id, headers } = messageOf(event(), url, envelope, ctx);
    expect(id).toMatch(/^evt_[\w-]{43}$/);
    expect(headers).toEqual({
      'content-type': 'application/json',
      'idempotency-key': 'shop/public.outbox/42',
    });
  });

  it('carries on the trace of the event', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const { headers } = messageOf(event({ headers: { traceparent, other: 1 } }), url, envelope, ctx);
    expect(headers).toMatchObject({ traceparent });
    expect(headers).not.toHaveProperty('other');
  });

  it('has no trace when the headers of the event can not be read', () => {
    const broken = Object.defineProperty(event(), 'headers', {
      get: () => JSON.parse('no') as unknown,
    });
    expect(messageOf(broken, url, envelope, ctx).headers).not.toHaveProperty('traceparent');
  });
});

describe('a bare payload', () => {
  it.each([
    [
      'json',
      event({ payloadText: '{"n": 12345678901234567890}' }),
      'application/json',
      '{"n": 12345678901234567890}',
    ],
    ['NULL', event({ payloadText: null }), 'application/json', 'null'],
    ['text', event({ payloadText: 'ü', payloadFormat: 'text' }), 'text/plain; charset=utf-8', 'ü'],
    [
      'bytes',
      event({ payloadText: '\\x00ff', payloadFormat: 'bytes', payload: Buffer.from([0, 255]) }),
      'application/octet-stream',
      Buffer.from([0, 255]),
    ],
  ])('is the column itself: %s', (_, given, type, body) => {
    const message = messageOf(given, url, payload, ctx);
    expect(message.body).toEqual(Buffer.from(body));
    expect(message.headers['content-type']).toBe(type);
  });

  it('has the rest in headers, whatever characters are in it', () => {
    const key = 'größe/1 €\r\nx: y';
    const { headers } = messageOf(event({ key, type: null, id: 'a b' }), url, payload, ctx);
    expect(headers).toMatchObject({
      'strandline-id': 'a%20b',
      'strandline-position': '16%2FB374D848%3A3',
      'strandline-timestamp': '2026-01-01T00:00:00.000000Z',
    });
    expect(decodeURIComponent(headers['strandline-key'] ?? '')).toBe(key);
    expect(headers).not.toHaveProperty('strandline-type');
  });

  it.each([
    ['key', { key: '€'.repeat(1_000) }],
    ['type', { type: '€'.repeat(1_000) }],
    ['id', { id: '€'.repeat(1_000) }],
  ])('is refused when the %s is longer than headers may be', (_, long) => {
    expect(() => messageOf(event(long), url, payload, ctx)).toThrow(/take \d{4,} characters/);
    expect(() => messageOf(event(long), url, envelope, ctx)).not.toThrow();
  });

  it('comes without its position when that is a long set of GTIDs', () => {
    const position = (servers: number): string =>
      Array.from({ length: servers }, () => '3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5').join();
    const { headers } = messageOf(event({ position: position(20) }), url, payload, ctx);
    expect(headers).toHaveProperty('strandline-position');
    const { headers: without } = messageOf(event({ position: position(30) }), url, payload, ctx);
    expect(without).not.toHaveProperty('strandline-position');
    expect(without).toHaveProperty('strandline-key');
  });
});

it.each(['', 'plain-1_2.3~4', 'a b', 'ü', '€', '😀', '%', '\0\n\r', '["a","b"]', '+'])(
  'any text is a header and back: %j',
  (text) => {
    const encoded = headerText(text);
    expect(encoded).toMatch(/^[\x21-\x7e]*$/);
    expect(decodeURIComponent(encoded)).toBe(text);
  },
);
