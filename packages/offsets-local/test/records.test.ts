import type { Offset } from '@strandline/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OffsetsError } from '../src/errors.js';
import { directoryName } from '../src/pipeline-name.js';
import { decode, decodeReplaced, encode, encodeReplaced, encodeVacant } from '../src/record.js';

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\0', '"', '[]', 'null', '🌊', '007', '__proto__'),
);
/** The sources name what is in it; that none of them is called `__proto__` is theirs to see to. */
const identity = fc.dictionary(
  text.filter((name) => name !== '__proto__'),
  text,
  { maxKeys: 5, noNullPrototype: true },
);
const range = fc.record({ first: text, last: text });
const counter = fc.oneof(fc.maxSafeNat(), fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER));
const offset: fc.Arbitrary<Offset> = fc.record({
  identity,
  watermark: text,
  completed: fc.array(range, { maxLength: 40 }),
  epoch: counter,
  revision: counter,
  savedAt: text,
});
const changeOf = ({ identity: of, watermark, completed }: Offset) => ({ identity: of, watermark, completed });

describe('what is kept in a file comes back as it was', () => {
  it('an offset', () => {
    fc.assert(
      fc.property(text, offset, (pipeline, saved) => {
        const written = encode(pipeline, saved);
        expect(decode(written, pipeline, 'file')).toEqual({ offset: saved, vacant: false });
        expect(written.indexOf('\n')).toBe(written.length - 1);
      }),
    );
  });

  it('one that nobody owns, and none', () => {
    fc.assert(
      fc.property(text, offset, (pipeline, { epoch, savedAt, ...by }) => {
        const put = encodeVacant(pipeline, epoch, by, savedAt);
        const expected = { ...changeOf({ ...by, epoch, savedAt }), epoch, revision: 0, savedAt };
        expect(decode(put, pipeline, 'file')).toEqual({ offset: expected, vacant: true });
        const reset = encodeVacant(pipeline, epoch, null, savedAt);
        expect(decode(reset, pipeline, 'file')).toEqual({ offset: null, vacant: true });
      }),
    );
  });

  it('what was replaced', () => {
    fc.assert(
      fc.property(text, fc.option(offset), text, (pipeline, saved, replacedAt) => {
        const written = encodeReplaced(pipeline, saved, replacedAt);
        const expected = saved && changeOf(saved);
        expect(decodeReplaced(written, pipeline, 'file')).toEqual({ offset: expected, replacedAt });
      }),
    );
  });
});

describe('a file that is not whole, or not ours', () => {
  /** Reads it; an error must be ours. */
  function outcome(written: string, pipeline: string): Offset | null | 'corrupt' {
    try {
      return decode(written, pipeline, 'file').offset;
    } catch (error) {
      expect(error).toBeInstanceOf(OffsetsError);
      expect(error).toMatchObject({ code: 'OFFSETS_CORRUPT' });
      return 'corrupt';
    }
  }

  it('cut anywhere is corrupt', () => {
    fc.assert(
      fc.property(text, offset, fc.nat(), (pipeline, saved, at) => {
        const written = encode(pipeline, saved);
        expect(outcome(written.slice(0, at % (written.length - 1)), pipeline)).toBe('corrupt');
      }),
    );
  });

  it('of any JSON is corrupt', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (written) => {
        expect(outcome(written, 'shop')).toBe('corrupt');
      }),
    );
  });

  it('of another pipeline is corrupt, and lies in another directory', () => {
    const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(name, name, offset, (a, b, saved) => {
        if (a !== b) expect(outcome(encode(a, saved), b)).toBe('corrupt');
        expect(directoryName(a) === directoryName(b)).toBe(a === b);
        expect(directoryName(a)).toMatch(/^[a-z0-9_%~-]{1,200}$/);
      }),
    );
  });
});
