import type { PositionRange } from '@strandline/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AlreadySettled } from '../src/already-settled.js';
import { compare, offsetAt, position } from './fixtures.js';

/** Neighbouring numbers, cut into ranges: `[first, last]`, both included. */
type Ranges = readonly (readonly [first: number, last: number])[];

function known(watermark: number, ranges: Ranges, comparisons = { count: 0 }): AlreadySettled {
  const completed: PositionRange[] = ranges.map(([first, last]) => ({
    first: position(first),
    last: position(last),
  }));
  return new AlreadySettled(offsetAt(watermark, { completed }), (a, b) => {
    comparisons.count += 1;
    return compare(a, b);
  });
}

function verdict(watermark: number, ranges: Ranges, n: number): 'behind' | 'settled' | 'new' {
  if (n <= watermark) return 'behind';
  return ranges.some(([first, last]) => first <= n && n <= last) ? 'settled' : 'new';
}

describe('what an earlier owner had settled', () => {
  it('is what lies behind the watermark, and the ranges with both their ends', () => {
    const settled = known(9, [
      [11, 11],
      [13, 15],
    ]);
    const verdicts = [8, 9, 10, 11, 12, 13, 14, 15, 16].map((n) => settled.lookUp(position(n)));
    expect(verdicts.join(' ')).toBe('behind behind new settled new settled settled settled new');
  });

  it('is nothing above the watermark of an offset without ranges', () => {
    const settled = known(9, []);
    expect([9, 10, 100].map((n) => settled.lookUp(position(n)))).toEqual(['behind', 'new', 'new']);
    expect(settled.remaining).toEqual([]);
  });

  it('is told by the source’s order: as text p10 comes before p9', () => {
    const settled = known(9, [[99, 101]]);
    expect([10, 98, 99, 100, 101, 102].map((n) => settled.lookUp(position(n)))).toEqual([
      'new',
      'new',
      'settled',
      'settled',
      'settled',
      'new',
    ]);
  });

  it('still counts while the stream has not passed it', () => {
    const settled = known(0, [
      [2, 4],
      [6, 7],
    ]);
    const left = (): string => settled.remaining.map(({ first, last }) => `${first}-${last}`).join(' ');
    expect(left()).toBe('p2-p4 p6-p7');
    settled.lookUp(position(4));
    expect(left()).toBe('p2-p4 p6-p7');
    settled.lookUp(position(5));
    expect(left()).toBe('p6-p7');
    settled.lookUp(position(8));
    expect(left()).toBe('');
  });
});

const offset = fc
  .record({ watermark: fc.nat(20), cuts: fc.uniqueArray(fc.integer({ min: 1, max: 80 }), { maxLength: 40 }) })
  .map(({ watermark, cuts }) => {
    const sorted = cuts.map((cut) => watermark + cut).sort((a, b) => a - b);
    const ranges: [number, number][] = [];
    for (let i = 0; i + 1 < sorted.length; i += 2) ranges.push([sorted[i] ?? 0, sorted[i + 1] ?? 0]);
    return { watermark, ranges };
  });

/** A stream in the source's order, which starts before the watermark or after it and leaves out places. */
const stream = fc.uniqueArray(fc.nat(110), { maxLength: 110 }).map((places) => places.sort((a, b) => a - b));

describe('against a model', () => {
  it('says the same of every position of every stream, and keeps the ranges that are not passed', () => {
    fc.assert(
      fc.property(offset, stream, ({ watermark, ranges }, places) => {
        const settled = known(watermark, ranges);
        for (const n of places) {
          expect(settled.lookUp(position(n))).toBe(verdict(watermark, ranges, n));
          if (n <= watermark) continue;
          const left = ranges.filter(([, last]) => last >= n).map(([first]) => position(first));
          expect(settled.remaining.map(({ first }) => first)).toEqual(left);
        }
      }),
    );
  });

  it('also of an offset that was saved in the middle of a range: what was passed of it, and then all of it', () => {
    fc.assert(
      fc.property(offset, stream, fc.nat(100), ({ watermark, ranges }, places, cut) => {
        const reached = watermark + cut;
        const passed = ranges
          .filter(([first]) => first <= reached)
          .map(([first, last]) => [first, Math.min(last, reached)] as const);
        const remaining = ranges.filter(([, last]) => last >= reached);
        const settled = known(watermark, [...passed, ...remaining]);
        for (const n of places) expect(settled.lookUp(position(n))).toBe(verdict(watermark, ranges, n));
      }),
    );
  });

  it('looks at each range and each position a few times, however many there are', () => {
    const comparisons = { count: 0 };
    const ranges = Array.from({ length: 5_000 }, (_, i) => [2 * i + 2, 2 * i + 2] as const);
    const settled = known(0, ranges, comparisons);
    for (let n = 1; n <= 10_001; n += 1) settled.lookUp(position(n));
    expect(settled.remaining).toEqual([]);
    expect(comparisons.count).toBeLessThan(4 * 10_001);
  });
});
