import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changesBetween } from '../page/text/changes.ts';
import { layOut, looksLikeJson } from '../page/text/json-layout.ts';
import { bytes, percent, rate } from '../page/text/numbers.ts';
import { ago, due, seconds, span } from '../page/text/times.ts';
import { visible, visibleParts } from '../page/text/visible.ts';

describe('somebody else’s text', () => {
  test.each([
    ['order 42', 'order 42'],
    ['a\u202Eb', 'a\\u202eb'],
    ['a\u0000b', 'a\\u0000b'],
    ['zero\u200Bwidth', 'zero\\u200bwidth'],
    ['no-break\u00A0space', 'no-break\\u00a0space'],
    ['half \uD83D', 'half \\ud83d'],
    ['tag \u{E0041}', 'tag \\u{e0041}'],
    ['filler \u3164', 'filler \\u3164'],
    ['two\nlines', 'two\\nlines'],
    ['whole 😀', 'whole 😀'],
  ])('%j is shown as %s', (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  test('what two texts look like differs where they do', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 20 }),
        fc.string({ unit: 'binary', maxLength: 20 }),
        (a, b) => {
          // Whoever writes a backslash and a code writes what is shown for the character: that much is accepted.
          fc.pre(a !== b && !a.includes('\\') && !b.includes('\\'));
          const shown = (text: string): string =>
            visibleParts(text)
              .map((part) => part.text)
              .join('');
          expect(shown(a)).not.toBe(shown(b));
        },
      ),
    );
  });

  test('is cut, and its length told', () => {
    expect(visible('x'.repeat(300), 5)).toBe('xxxxx… (300 characters)');
  });
});

describe('a payload that is laid out', () => {
  test('gets line breaks', () => {
    expect(layOut('{"a":1,"b":[true,{}],"c":[]}')).toBe(
      ['{', '  "a": 1,', '  "b": [', '    true,', '    {}', '  ],', '  "c": []', '}'].join('\n'),
    );
  });

  test('keeps each value as it is: large numbers, equal names, escapes', () => {
    const text = '{"n":12345678901234567890.10,"n":1e400,"s":"a\\u0041 \\" , : {"}';
    expect(layOut(text).replaceAll(/\n\s*/g, '').replaceAll('": ', '":')).toBe(text);
  });

  test('means the same, whatever it is', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.parse(layOut(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  test('comes out as far as it goes, when it is cut or none', () => {
    expect(layOut('{"a":[1,"x')).toContain('"x');
    expect(layOut(']]]}')).toContain(']');
    expect(looksLikeJson('  {"a":1}')).toBe(true);
    expect(looksLikeJson('plain')).toBe(false);
  });
});

test('what became of an error is told word by word, and of a long one as a whole', () => {
  expect(changesBetween('attempt 1 failed', 'attempt 2 failed')).toEqual([
    { text: 'attempt ', kind: 'same' },
    { text: '1', kind: 'removed' },
    { text: '2', kind: 'added' },
    { text: ' failed', kind: 'same' },
  ]);
  expect(changesBetween('a', 'a')).toEqual([{ text: 'a', kind: 'same' }]);
  expect(changesBetween('x'.repeat(5_000), 'y').map(({ kind }) => kind)).toEqual(['removed', 'added']);
});

test.each([
  [0, '0 ms'],
  [0.534, '0.53 ms'],
  [999, '1000 ms'],
  [4_260, '4.2 s'],
  [59_900, '59 s'],
  [61_000, '1 min 1 s'],
  [12_000_000, '3 h 20 min'],
  [200_000_000, '2 d 7 h'],
  [null, '–'],
])('a span of %s ms is told as %s', (milliseconds, told) => {
  expect(span(milliseconds)).toBe(told);
});

test('other figures', () => {
  const now = Date.parse('2026-05-01T12:00:00Z');
  expect(ago('2026-05-01T11:59:00Z', now)).toBe('1 min ago');
  expect(ago('2026-05-01T12:00:09Z', now)).toBe('in 9.0 s');
  expect(ago('no time', now)).toBe('no time');
  expect(due('2026-05-01T12:00:09Z', now)).toBe('in 9.0 s');
  expect(due('2026-05-01T11:59:00Z', now)).toBe('now');
  expect(due(null, now)).toBe('–');
  expect(seconds(0.0005)).toBe('0.5 ms');
  expect([bytes(999), bytes(1_500), bytes(12_345_678), bytes(null)]).toEqual([
    '999 B',
    '1.5 kB',
    '12 MB',
    '–',
  ]);
  expect([rate(0.25), rate(1_234), percent(0.994)]).toEqual(['0.3', '1,234', '99 %']);
});
