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
});
