import { recordOf, type EventRecord } from '@strandline/core';
import { describe, expect } from 'vitest';
import {
  event,
  headOf,
  ids,
  letter,
  parked,
  PIPELINE,
  ROOMY,
  waiting,
  type Each,
} from './dead-letter-fixtures.js';

const ODD = {
  nothing: '',
  blanks: '  a ',
  unicode: 'störung-πίναξ-注文-🦀',
  'composed and decomposed': 'caf\u00e9 cafe\u0301',
  'half a pair': 'a\ud83e b\udd80',
  NUL: 'a\0b',
  'the escape': '\u0001d83e \u0001',
  'quotes and escapes': `'"\`\\ \\' %_ ? $1 :x \n\r\t\b\x1a`,
  'a byte order mark': '\ufefftext',
  long: '注文🦀'.repeat(5_000),
};

const TEXTS: readonly (keyof EventRecord)[] = [
  'id',
  'key',
  'type',
  'payloadText',
  'headersText',
  'position',
  'table',
];

export function describeContents(each: Each): void {
  describe('what is kept', () => {
    each('the event in full, whatever its texts are', async (claimed) => {
      const { store, desk, fence } = claimed;
      for (const [n, text] of Object.values(ODD).entries()) {
        const all = Object.fromEntries(TEXTS.map((name) => [name, text]));
        const stored = event('k', n, {
          ...all,
          payloadFormat: 'text',
          columns: JSON.parse(
            JSON.stringify({ [text]: text, none: null }).replace('{', '{"__proto__":"x",'),
          ) as Record<string, string | null>,
          transaction: { id: `${text}${String(n)}`, ordinal: 4_294_967_296, commitTime: text },
          bytes: 5_000_000_000,
        });
        const error = { name: text, message: text, code: text, stack: text };
        const times = { firstFailedAt: '2026-01-01T00:00:00.000Z', lastFailedAt: '2026-01-01T00:00:00.001Z' };
        const history = [
          { first: 1, last: 2, ...times, error: { name: text, code: text, message: text } },
          {
            first: 4_294_967_296,
            last: 4_294_967_297,
            ...times,
            error: { name: '', code: null, message: '' },
          },
        ];
        const failed = {
          event: stored,
          reason: 'failed' as const,
          failure: { error, attempts: 7, ...times, history },
        };
        expect(await store.park(fence, stored.key, [failed], 'behind', ROOMY)).toBe('stored');
        const found = await headOf(claimed, stored.key);
        expect(recordOf(found.event)).toEqual(recordOf(stored));
        expect(found.event.payload).toBe(text);
        expect(found.failure).toEqual(failed.failure);
        expect(await desk.show(PIPELINE, found.id)).toEqual(found);
        expect(await desk.list(PIPELINE, { key: stored.key }, { after: null, limit: 9 })).toEqual([found]);
        await desk.retry(PIPELINE, { key: stored.key });
        expect(await store.released(fence, 100)).toContain(stored.key);
      }
      const answer = await store.claim(fence, 'w0');
      expect(answer === 'fenced' ? [] : answer.keys.map(({ key }) => key).toSorted()).toEqual(
        Object.values(ODD).toSorted(),
      );
    });

    each('what its payload is made of', async (claimed) => {
      const { store, fence } = claimed;
      const texts = { position: 'p', headersText: '{"trace": {"id": "7"}, "big": 9007199254740993}' };
      const events = [
        event('k', 1, { ...texts, payloadFormat: 'json', payloadText: '{"n": 9007199254740993, "x": 1.10}' }),
        event('k', 2, { payloadFormat: 'bytes', payloadText: '\\x00ff80' }),
        event('k', 3, { payloadFormat: 'bytes', payloadText: `0x${'00ff'.repeat(1_000)}` }),
        event('k', 4, { payloadFormat: 'text', payloadText: '[1]' }),
        event('k', 5, { payloadText: null, type: null }),
        event('k', 6, { payloadText: 'null' }),
      ];
      await store.park(
        fence,
        'k',
        events.map((one) => letter(one)),
        'behind',
        ROOMY,
      );
      const found = (await store.read(fence, 'k', 10)).map((one) => one.event);
      expect(found.map(recordOf)).toEqual(events.map(recordOf));
      expect(found.map(({ payload, headers }) => [payload, headers])).toEqual(
        events.map(({ payload, headers }) => [payload, headers]),
      );
      expect(found[2]?.payload).toHaveLength(2_000);
    });

    each('an event that can not be parsed', async (claimed) => {
      const broken = event('k', 1, { payloadText: '{', headersText: '{' });
      await claimed.store.park(claimed.fence, 'k', [letter(broken, 'failed')], 'behind', ROOMY);
      const { event: found } = await headOf(claimed, 'k');
      expect([found.payloadText, found.headersText]).toEqual(['{', '{']);
      expect(() => found.payload).toThrow(SyntaxError);
    });

    each('keys that differ in little are different keys', async (claimed) => {
      const keys = [
        'k',
        'K',
        'k ',
        ' k',
        'k\0',
        'ｋ',
        'caf\u00e9',
        'cafe\u0301',
        '\ud83e',
        '\udd80',
        'ß',
        'ss',
      ];
      const long = 'x'.repeat(10_000);
      keys.push(`${long}1`, `${long}2`);
      for (const [n, key] of keys.entries()) await parked(claimed, key, n, n);
      for (const [n, key] of keys.entries()) expect(await waiting(claimed, key)).toEqual([String(n)]);
      expect(await claimed.desk.discard(PIPELINE, 'k')).toBe(1);
      expect(await claimed.desk.counts(PIPELINE)).toMatchObject({ keys: keys.length - 1 });
    });

    each('a page holds what memory can take, and at least one', async (claimed) => {
      const { store, desk, fence } = claimed;
      const large = 5 * 1024 * 1024;
      const letters = [1, 2, 3, 4].map((n) =>
        letter(event('k', n, { payloadFormat: 'text', payloadText: 'x'.repeat(large), bytes: large })),
      );
      expect(await store.park(fence, 'k', letters, 'behind', ROOMY)).toBe('stored');
      const seen: string[] = [];
      for (
        let page = await store.read(fence, 'k', 10);
        page.length > 0;
        page = await store.read(fence, 'k', 10)
      ) {
        seen.push(...ids(page));
        for (const one of page) await store.handled(fence, [one]);
      }
      expect(seen).toEqual(['1', '2', '3', '4']);
      const listed: string[] = [];
      for (let after: string | null = null; ;) {
        const page = await desk.list(PIPELINE, {}, { after, limit: 10 });
        listed.push(...ids(page));
        const last = page.at(-1);
        if (last === undefined) break;
        after = last.id;
      }
      expect(listed).toEqual(['1', '2', '3', '4']);
    });
  });
}
