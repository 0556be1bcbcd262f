import { SNAPSHOT_START, snapshotPosition } from '@strandline/source-kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparePositions, logPosition, parsePosition } from '../src/position.js';

interface Place {
  readonly lsn: bigint;
  readonly ordinal: number;
}

/** Places of which many share an LSN, or an ordinal, and whose texts differ in length. */
const place: fc.Arbitrary<Place> = fc.record({
  lsn: fc.oneof(
    fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn }),
    fc.constantFrom(9n, 10n, 15n, 16n, 255n, 256n, 0xffff_ffffn, 0x1_0000_0000n, 0xa_0000_0000n),
  ),
  ordinal: fc.oneof(fc.nat(12), fc.nat(2_000_000)),
});
const printed = ({ lsn, ordinal }: Place): string => logPosition(lsn, ordinal);

/** What a place is, as one number: the model of the order. */
const rank = ({ lsn, ordinal }: Place): bigint => (lsn << 64n) + BigInt(ordinal);

/** A text of which a character was left out, put in, or replaced. */
function damaged(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(
      text,
      fc.nat(),
      fc.constantFrom('', '0', '9', 'f', 'G', '/', ':', ';', '-', ' ', '"', ']'),
      fc.nat(1),
    )
    .map(([whole, at, put, left]) => {
      const from = at % (whole.length + 1);
      return whole.slice(0, from) + put + whole.slice(from + left);
    });
}

describe('the text of a position', () => {
  it('is one for each place: what is read of it prints the same', () => {
    fc.assert(
      fc.property(place, place, (a, b) => {
        expect(printed(a) === printed(b)).toBe(rank(a) === rank(b));
        const again = parsePosition(printed(a));
        expect(again.kind === 'log' && printed(again)).toBe(printed(a));
      }),
    );
  });

  it('whatever it is, is read as a place that prints and reads again, or refused with PG_POSITION', () => {
    const any = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...Array.from('0A/:f9-')), maxLength: 22 }),
      damaged(place.map(printed)),
      damaged(fc.array(fc.string()).map((row) => snapshotPosition(row))),
      damaged(fc.constant(SNAPSHOT_START)),
    );
    fc.assert(
      fc.property(any, (text) => {
        let read;
        try {
          read = parsePosition(text);
        } catch (error) {
          expect(error).toMatchObject({ code: 'PG_POSITION' });
          return;
        }
        const again =
          read.kind === 'log'
            ? printed(read)
            : read.row === null
              ? SNAPSHOT_START
              : snapshotPosition(read.row);
        expect(parsePosition(again)).toEqual(read);
        if (read.kind === 'log') expect(text).toMatch(/^[\dA-Fa-f]{1,8}\/[\dA-Fa-f]{1,8}:\d+$/);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the order of positions', () => {
  const any = fc.oneof(
    { weight: 5, arbitrary: place.map((at) => ({ text: printed(at), rank: rank(at) + 1n })) },
    { weight: 1, arbitrary: fc.constant({ text: SNAPSHOT_START, rank: 0n }) },
  );

  it('is that of the pairs of numbers, behind the start snapshot: any list is sorted as its model', () => {
    fc.assert(
      fc.property(fc.array(any, { maxLength: 30 }), (places) => {
        const byModel = places.toSorted((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0));
        const sorted = places.map(({ text }) => text).sort((a, b) => comparePositions(a, b));
        expect(sorted).toEqual(byModel.map(({ text }) => text));
      }),
    );
  });

  it('is total and transitive', () => {
    fc.assert(
      fc.property(any, any, any, ({ text: a }, { text: b }, { text: c }) => {
        const [ab, ba] = [comparePositions(a, b), comparePositions(b, a)];
        expect(Math.sign(ab) + Math.sign(ba)).toBe(0);
        if (ab <= 0 && comparePositions(b, c) <= 0) expect(comparePositions(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });

  it('is not that of the texts', () => {
    const asText = fc.property(place, place, (a, b) => rank(a) < rank(b) === printed(a) < printed(b));
    expect(fc.check(asText, { numRuns: 10_000 }).failed).toBe(true);
  });
});
