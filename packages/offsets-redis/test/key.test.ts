import fc from 'fast-check';
import { expect, it } from 'vitest';
import { keyOf } from '../src/key.js';

const name = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.string({ unit: fc.constantFrom('{', '}', '%', '7', 'B', ':', 'a'), minLength: 1 }),
);

it('is readable for ordinary names', () => {
  expect(keyOf('strandline', 'shop', 'offset')).toBe('strandline:{shop}:offset');
});

it('differs when the pipeline does', () => {
  fc.assert(
    fc.property(name, name, (a, b) => {
      expect(keyOf('p', a, 'offset') === keyOf('p', b, 'offset')).toBe(a === b);
    }),
  );
});

it('has the name of the pipeline, and all of it, as its hash tag', () => {
  fc.assert(
    fc.property(name, (pipeline) => {
      const key = keyOf('p', pipeline, 'offset');
      const tag = key.slice(key.indexOf('{') + 1, key.indexOf('}'));
      expect(decodeURIComponent(tag)).toBe(pipeline);
      expect(key).toBe(`p:{${tag}}:offset`);
    }),
  );
});
