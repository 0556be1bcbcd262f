import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TransactionSnapshot } from '../src/transaction-snapshot.js';

const SPAN = 2 ** 32;

/** What the log has of a 64-bit transaction id. */
const low = (xid: number): number => xid % SPAN;

describe('a transaction snapshot', () => {
  const snapshot = new TransactionSnapshot('100:110:102,105');

  it.each([
    [99, true],
    [100, true],
    [101, true],
    [102, false],
    [103, true],
    [105, false],
    [109, true],
    [110, false],
    [111, false],
  ])('of 100 to 110 with 102 and 105 in progress: %i is covered: %s', (xid, covered) => {
    expect(snapshot.covers(xid)).toBe(covered);
  });

  it('without transactions in progress covers what is below its end', () => {
    const quiet = new TransactionSnapshot('7:7:');
    expect([6, 7].map((xid) => quiet.covers(xid))).toEqual([true, false]);
  });

  it.each(['', '1', '1:2', 'a:b:', '1:2:x', '1:2:3:4', '-1:2:', '1.5:2:'])('%j is refused', (text) => {
    expect(() => new TransactionSnapshot(text)).toThrow(TypeError);
  });
});

describe('when transaction ids wrap around', () => {
  it.each([
    ['just before', 5 * SPAN - 10, 5 * SPAN - 11, true],
    ['just before', 5 * SPAN - 10, 5 * SPAN - 10, false],
    ['an id from before is covered', 5 * SPAN + 3, 5 * SPAN - 1, true],
    ['an id from after is not', 5 * SPAN - 3, 5 * SPAN + 1, false],
    ['at the turn itself', 5 * SPAN, 5 * SPAN, false],
    ['at the turn itself', 5 * SPAN, 5 * SPAN - 1, true],
    ['far behind', 5 * SPAN + 3, 4 * SPAN + SPAN / 2 + 10, true],
    ['far ahead', 5 * SPAN - 3, 5 * SPAN + SPAN / 2 - 10, false],
  ])('%s: a snapshot up to %i covers %i: %s', (_, xmax, xid, covered) => {
    expect(new TransactionSnapshot(`${String(xmax)}:${String(xmax)}:`).covers(low(xid))).toBe(covered);
  });

  it('in progress is told by the whole id', () => {
    const inProgress = 7 * SPAN - 2;
    const snapshot = new TransactionSnapshot(
      `${String(inProgress)}:${String(7 * SPAN + 4)}:${String(inProgress)}`,
    );
    expect(snapshot.covers(low(inProgress))).toBe(false);
    expect(snapshot.covers(low(inProgress + 1))).toBe(true);
    expect(snapshot.covers(low(7 * SPAN + 3))).toBe(true);
    expect(snapshot.covers(low(7 * SPAN + 4))).toBe(false);
  });

  it('an id above 2^31 is not taken for a negative one', () => {
    expect(new TransactionSnapshot('3000000000:3000000010:').covers(2_999_999_999)).toBe(true);
    expect(new TransactionSnapshot('3000000000:3000000010:').covers(3_000_000_010)).toBe(false);
  });

  it('the answer is that of the whole ids, as long as they are less than 2^31 apart', () => {
    const ids = fc
      .record({
        xmax: fc.integer({ min: 3 * SPAN, max: 2 ** 50 }),
        away: fc.integer({ min: 1 - SPAN / 2, max: SPAN / 2 - 1 }),
      })
      .map(({ xmax, away }) => ({ xmax, xid: xmax + away }));
    fc.assert(
      fc.property(ids, fc.array(fc.nat(40)), ({ xmax, xid }, back) => {
        const xmin = xmax - 40;
        const inProgress = [...new Set(back.map((n) => xmin + n).filter((id) => id < xmax))];
        const snapshot = new TransactionSnapshot([xmin, xmax, inProgress.join(',')].join(':'));
        expect(snapshot.covers(low(xid))).toBe(xid < xmax && !inProgress.includes(xid));
      }),
    );
  });
});
