import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordOf, restoreEvent, type EventRecord } from '../src/event-record.js';
import { event } from './fixtures.js';

function restored(texts: Partial<EventRecord>): ReturnType<typeof restoreEvent> {
  return restoreEvent({ ...recordOf(event('k', 1)), ...texts });
}

describe('a record', () => {
  it('has all of the event, and gives it back', () => {
    const record: EventRecord = {
      ...recordOf(event('k', 1)),
      type: 'paid',
      payloadText: '{"n": 9007199254740993}',
      headersText: '{"trace": 1e400}',
      columns: JSON.parse('{"__proto__": "x", "none": null}') as Record<string, string | null>,
    };
    const again = restoreEvent(record);
    expect(recordOf(again)).toEqual(record);
    expect(again.payload).toEqual({ n: 9007199254740992 });
    expect(again.payload).toBe(again.payload);
    expect(again.headers).toEqual({ trace: Infinity });
  });

  it.each([
    ['json', '[1]', [1]],
    ['json', null, null],
    ['bytes', '\\x00ff', Buffer.from([0, 255])],
    ['bytes', '0x00ff', Buffer.from([0, 255])],
    ['text', '[1]', '[1]'],
  ] as const)('decodes %s %s', (payloadFormat, payloadText, payload) => {
    expect(restored({ payloadFormat, payloadText }).payload).toEqual(payload);
  });

  it('is made of an event that can not be parsed: that it fails is seen by who reads it', () => {
    const broken = restored({ payloadFormat: 'json', payloadText: '{', headersText: '{' });
    const again = restoreEvent(recordOf(broken));
    expect([again.payloadText, again.headersText]).toEqual(['{', '{']);
    expect(() => again.payload).toThrow(SyntaxError);
    expect(() => again.headers).toThrow(SyntaxError);
  });

  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '{', 'null', '\\x', '\ud83e'));
  const any: fc.Arbitrary<EventRecord> = fc.record({
    ...{ id: text, key: text, type: fc.option(text), position: text, table: text, bytes: fc.nat() },
    ...{ payloadText: fc.option(text), headersText: fc.option(text) },
    payloadFormat: fc.constantFrom('json', 'bytes', 'text'),
    columns: fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', 'constructor')), fc.option(text)),
    transaction: fc.record({ id: text, ordinal: fc.nat(), commitTime: text }),
  });

  it('of anything gives the event back, also from the JSON that a table keeps of its columns', () => {
    fc.assert(
      fc.property(any, (record) => {
        const columns = JSON.parse(JSON.stringify(record.columns)) as EventRecord['columns'];
        const again = recordOf(restoreEvent({ ...record, columns }));
        expect({ ...again, columns: Object.entries(again.columns) }).toEqual({
          ...record,
          columns: Object.entries(record.columns),
        });
      }),
    );
  });

  it('of text is text, and of bytes is as many bytes as it was written with', () => {
    fc.assert(
      fc.property(text, fc.uint8Array(), fc.constantFrom('0x', '\\x'), (plain, bytes, mark) => {
        expect(restored({ payloadFormat: 'text', payloadText: plain }).payload).toBe(plain);
        const payloadText = mark + Buffer.from(bytes).toString('hex');
        expect(restored({ payloadFormat: 'bytes', payloadText }).payload).toEqual(Buffer.from(bytes));
      }),
    );
  });
});
