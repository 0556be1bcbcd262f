import { describe, expect, it } from 'vitest';
import type { PostgresEvent } from '../src/event.js';
import { MessageMapper } from '../src/message-mapper.js';
import { containing, matching, notContaining } from './matchers.js';

const FIELDS = { prefix: 'shop', id: 'id', key: 'key', type: 'type', payload: 'payload', headers: 'headers' };

function map(content: string, nullKey: 'reject' | 'unordered' = 'reject', fields = FIELDS): PostgresEvent {
  return new MessageMapper(fields, nullKey).fromContent(content, '0/A0:2', { xid: 7, commitMicros: 0n }, 2);
}

describe('the content of a message', () => {
  it('becomes the event', () => {
    const content = '{"id":"e1","key":"k","type":"paid","payload":{"n":1},"headers":{"h":true}}';
    expect(map(content).toJSON()).toEqual({
      id: 'e1',
      key: 'k',
      type: 'paid',
      payload: { n: 1 },
      payloadText: '{"n":1}',
      headers: { h: true },
      columns: {},
      position: '0/A0:2',
      table: 'shop',
      transaction: { id: '7', ordinal: 2, commitTime: '2000-01-01T00:00:00.000000Z' },
    });
  });

  it('is found in the fields that the config names', () => {
    const fields = { prefix: 'p', id: 'i', key: 'k', type: 't', payload: 'p', headers: 'h' };
    const content = '{"i":1,"k":2,"t":3,"p":4,"h":{"a":5},"id":"no","key":"no","payload":"no"}';
    expect(map(content, 'reject', fields).toJSON()).toMatchObject({
      id: '1',
      key: '2',
      type: '3',
      payload: 4,
      headers: { a: 5 },
    });
  });

  it('without an id is known by its position, which is the same at each redelivery', () => {
    expect(map('{"key":"k"}').id).toBe('0/A0:2');
    expect(map('{"key":"k","id":null}').id).toBe('0/A0:2');
  });

  it('without payload and headers has none', () => {
    for (const content of ['{"key":"k"}', '{"key":"k","payload":null,"headers":null}']) {
      expect(map(content).toJSON()).toMatchObject({
        payload: null,
        payloadText: null,
        headers: {},
        type: null,
      });
    }
  });

  it('keeps falsy payloads', () => {
    for (const [text, payload] of [
      ['0', 0],
      ['false', false],
      ['""', ''],
      ['[]', []],
    ] as const) {
      expect(map(`{"key":"k","payload":${text}}`).toJSON()).toMatchObject({ payload, payloadText: text });
    }
  });
});

describe('numbers', () => {
  it.each([
    '9007199254740993',
    '-9223372036854775808',
    '123456789012345678901234567890',
    '0.10',
    '1.0',
    '1e400',
    '1E+2',
    '-0',
  ])('%s keeps its digits, as key, id and type, and in the payload', (number) => {
    const event = map(`{"id":${number},"key":${number},"type":${number},"payload":{"n":[${number}]}}`);
    expect([event.id, event.key, event.type]).toEqual([number, number, number]);
    expect(event.payloadText).toBe(`{"n":[${number}]}`);
  });

  it('a key that is a text is the same key as the number with these digits, as in a table', () => {
    expect(map('{"key":"17"}').key).toBe(map('{"key":17}').key);
  });

  it('a boolean key is its text', () => {
    expect(map('{"key":false}').key).toBe('false');
  });
});

describe('a message without a key', () => {
  it.each(['{}', '{"key":null}', '{"key":{"a":1}}', '{"key":[1]}'])('%s is PG_NULL_KEY', (content) => {
    expect(() => map(content)).toThrow(
      expect.objectContaining({
        code: 'PG_NULL_KEY',
        position: '0/A0:2',
        message: matching(/0\/A0:2.*"key"/),
      }),
    );
    expect(map(content, 'unordered').key).toBe('unordered:0/A0:2');
  });

  it('is not one with an empty key', () => {
    expect(map('{"key":""}').key).toBe('');
  });
});

describe('content that is no event', () => {
  it.each(['', 'x', '{', '{"key":"k"} x', '[]', '"text"', '7', 'null', 'true'])(
    '%j is PG_MESSAGE',
    (content) => {
      expect(() => map(content)).toThrow(
        expect.objectContaining({
          code: 'PG_MESSAGE',
          position: '0/A0:2',
          message: containing('"shop"'),
        }),
      );
    },
  );

  it('is not quoted: it may hold what nobody should read in a log', () => {
    expect(() => map('{"card":"4111 1111"')).toThrow(
      expect.objectContaining({ message: notContaining('4111') }),
    );
  });
});
