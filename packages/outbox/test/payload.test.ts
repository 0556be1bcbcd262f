import fc from 'fast-check';
import { insertEvent, type InsertOptions } from '@strandline/outbox';
import { describe, expect, test } from 'vitest';
import { recorded } from './recorded.js';

async function written(payload: unknown, options: InsertOptions = {}): Promise<unknown> {
  const executor = recorded();
  await insertEvent(executor, { key: 'k', type: 't', payload }, options);
  return executor.statements[0]?.params[3];
}

async function refusal(payload: unknown, options: InsertOptions = {}): Promise<unknown> {
  const executor = recorded();
  const error: unknown = await insertEvent(executor, { key: 'k', type: 't', payload }, options).then(
    () => expect.fail('it was written'),
    (reason: unknown) => reason,
  );
  expect(executor.statements, 'nothing is sent').toEqual([]);
  return error;
}

const cycle: Record<string, unknown> = {};
cycle['list'] = [{ again: cycle }];
const deep: unknown[] = [];
for (let n = 0, inner = deep; n < 50_000; n += 1) {
  const next: unknown[] = [];
  inner.push(next);
  inner = next;
}
const shared = { a: [1] };

test('any JSON value is the text that JSON.stringify makes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ stringUnit: 'grapheme' }), async (value) => {
      expect(await written(value)).toBe(value === null ? null : JSON.stringify(value));
    }),
  );
});

test.each([
  ['an object that comes twice', { x: shared, y: shared, list: [shared, shared] }],
  ['a date', { at: new Date(0) }],
  ['what has a toJSON', { toJSON: () => ({ a: 1 }) }],
  [
    'an instance of a class',
    new (class Order {
      readonly id = 7;
    })(),
  ],
  ['an object without a prototype', Object.assign(Object.create(null), { a: 1 })],
  ['the name __proto__', JSON.parse('{"__proto__": {"a": 1}}')],
])('%s', async (_, value) => {
  expect(await written(value)).toBe(JSON.stringify(value));
});

test.each([
  ['undefined', { a: { b: undefined } }, 'payload.a.b is undefined'],
  ['undefined in an array', [1, undefined], 'payload.1 is undefined'],
  ['a hole', new Array<number>(1), 'payload.0 is undefined'],
  ['a function', { f: () => 1 }, 'payload.f is a function'],
  ['a function alone', () => 1, 'payload is a function'],
  ['a symbol', [Symbol('s')], 'payload.0 is a symbol'],
  ['NaN', { n: NaN }, 'payload.n is NaN'],
  ['Infinity', [[-Infinity]], 'payload.0.0 is -Infinity'],
  ['a bigint', { n: 1n }, 'payload.n is a bigint, for which JSON has no type'],
  ['a bigint after others', { a: { b: [1] }, c: [{ n: 1n }] }, 'payload.c.0.n is a bigint'],
  ['a cycle', cycle, 'payload.list.0.again contains itself'],
  ['a map', { m: new Map([[1, 2]]) }, 'payload.m is of the kind Map, whose contents are not its properties'],
  ['a set', new Set([1]), 'payload is of the kind Set'],
  ['an error', { e: new Error('x') }, 'payload.e is of the kind Error'],
  ['a regular expression', { r: /x/ }, 'payload.r is of the kind RegExp'],
  ['bytes', { b: new Uint8Array(2) }, 'payload.b is of the kind Uint8Array'],
  ['a boxed number', { n: Object(NaN) as unknown }, 'payload.n is of the kind Number'],
  ['a promise', { p: Promise.resolve() }, 'payload.p is of the kind Promise'],
  ['half of a surrogate pair', ['x\ud800y'], 'payload.0 has half of a surrogate pair'],
  ['half of one in a name', { '\udc00': 1 }, 'payload.\udc00 has a name with half of a surrogate pair'],
  [
    'a toJSON that fails',
    {
      toJSON: () => {
        throw new Error('secret');
      },
    },
    'payload can not be made JSON',
  ],
  ['a toJSON that gives nothing', { a: { toJSON: () => undefined } }, 'payload.a is undefined'],
  ['what is nested too deep', deep, 'payload is nested too deep'],
])('%s is refused, and told where it is', async (_, payload, problem) => {
  const error = await refusal(payload);
  expect(error).toMatchObject({ code: 'OUTBOX_PAYLOAD', key: 'k' });
  expect(String(error)).toContain(`In the event with key "k" ${problem}`);
  expect(String(error)).not.toContain('secret');
});

describe('size', () => {
  test('is counted in bytes of the JSON, and its limit can be moved', async () => {
    const payload = 'ü'.repeat(10); // 22 bytes with the quotes
    expect(await written(payload, { limits: { payload: 22 } })).toBe(JSON.stringify(payload));
    const error = await refusal(payload, { limits: { payload: 21 } });
    expect(error).toMatchObject({ code: 'OUTBOX_PAYLOAD_TOO_LARGE', size: 22, limit: 21, key: 'k' });
    expect(String(error)).toContain(
      'The payload of the event with key "k" has 22 bytes, and 21 at most are allowed.',
    );
    expect(String(error)).not.toContain('ü');
  });

  test('is a MiB at most by default', async () => {
    const mib = 1024 * 1024;
    expect(await written('x'.repeat(mib - 2))).toHaveLength(mib);
    expect(await refusal('x'.repeat(mib - 1))).toMatchObject({ size: mib + 1, limit: mib });
  });
});

describe('formats', () => {
  test('a text is written as it is', async () => {
    expect(await written('{"n": 9007199254740993}', { payloadFormat: 'text' })).toBe(
      '{"n": 9007199254740993}',
    );
    expect(await written(null, { payloadFormat: 'text' })).toBeNull();
    expect(await refusal({ a: 1 }, { payloadFormat: 'text' })).toMatchObject({ code: 'OUTBOX_PAYLOAD' });
    expect(await refusal('a\0', { payloadFormat: 'text' })).toMatchObject({ code: 'OUTBOX_PAYLOAD' });
  });

  test('bytes are written as they are', async () => {
    const bytes = Buffer.from([0, 255]);
    expect(await written(bytes, { payloadFormat: 'bytes' })).toBe(bytes);
    expect(await refusal('text', { payloadFormat: 'bytes' })).toMatchObject({ code: 'OUTBOX_PAYLOAD' });
    expect(await refusal(bytes, { payloadFormat: 'bytes', limits: { payload: 1 } })).toMatchObject({
      size: 2,
    });
  });
});
