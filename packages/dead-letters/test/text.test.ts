import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fromStored, hashOf, toStored } from '../src/text.js';

/** Any sequence of UTF-16 code units, many of them such as a database can't hold. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom('\0', '\u0001', '\ud83e', '\udd80', '🦀', 'd83e', '0001'),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    ),
  )
  .map((parts) => parts.join(''));

it('any text is stored as one that every database holds, and comes back', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const stored = toStored(text);
      expect(Buffer.from(stored).toString()).toBe(stored); // it has a UTF-8
      expect(stored).not.toContain('\0');
      expect(fromStored(stored)).toBe(text);
    }),
  );
});

it('two texts are stored as two, and have two hashes', () => {
  fc.assert(
    fc.property(anyText, anyText, (a, b) => {
      expect(toStored(a) === toStored(b)).toBe(a === b);
      expect(hashOf(a).equals(hashOf(b))).toBe(a === b);
    }),
  );
});

it('ordinary texts are stored as they are', () => {
  const text = `störung-πίναξ-注文-🦀 '"\\ \n\r\t\x1a`;
  expect(toStored(text)).toBe(text);
});
