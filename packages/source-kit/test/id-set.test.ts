import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdSet } from '../src/id-set.js';

/** The numbers below n, each once, in an order without an order. */
function shuffled(n: number): number[] {
  const step = 7_919;
  return Array.from({ length: n }, (_, index) => (index * step) % n);
}

describe('ids of very many rows', () => {
  it('are those that were added, and no others', () => {
    const ids = new IdSet();
    const odd = shuffled(30_001).filter((n) => n % 3 === 0);
    for (const n of odd) expect(ids.add(String(n))).toBe(true);
    const known = new Set(odd);
    for (let n = 0; n < 30_010; n += 1) expect(ids.has(String(n))).toBe(known.has(n));
  });

  it.each(['00', '01', '-1', '1.0', '', ' 1', '9007199254740993', '18446744073709551615', 'a-uuid'])(
    'a text that is not the usual one of a small integer is compared as it is: %j',
    (id) => {
      const ids = new IdSet();
      for (const n of ['0', '1', '9007199254740991', '9007199254740992']) ids.add(n);
      expect(ids.has(id)).toBe(false);
      ids.add(id);
      expect(ids.has(id)).toBe(true);
      expect(ids.has('2')).toBe(false);
    },
  );

  it('of rows that were inserted one after the other never come to the limit, be they a million', () => {
    const ids = new IdSet(10);
    for (let n = 1; n <= 1_000_000; n += 1) if (!ids.add(String(n))) expect.fail(`full at ${String(n)}`);
    expect([ids.has('0'), ids.has('1'), ids.has('1000000'), ids.has('1000001')]).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it.each([
    ['texts', (n: number) => `id-${String(n)}`],
    ['integers far apart', (n: number) => String(n * 10)],
  ])('are refused when they take more room than is allowed: %s', (_, idOf) => {
    const ids = new IdSet(100);
    const added = Array.from({ length: 1_000 }, (__, n) => ids.add(idOf(n)));
    expect(added.slice(0, 100)).not.toContain(false);
    expect(added.slice(300)).not.toContain(true);
  });

  it('are those of a plain set, whatever they are, in whatever order they come, joined now or not yet', () => {
    const id = fc.oneof(
      { weight: 8, arbitrary: fc.nat(300).map(String) },
      { weight: 1, arbitrary: fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }).map(String) },
      { weight: 1, arbitrary: fc.constantFrom('', '00', '01', '-1', '1.0', '9007199254740992', 'a-uuid') },
    );
    fc.assert(
      fc.property(fc.array(id, { maxLength: 200 }), fc.constantFrom(5, 1_000), (added, limit) => {
        const ids = new IdSet(limit);
        const known = new Set<string>();
        for (const each of added) if (ids.add(each)) known.add(each);
        // Whoever is refused gives up: what a set that is full says of other ids is of no use to anybody.
        for (const each of known) expect(ids.has(each), each).toBe(true);
        if (limit > added.length)
          for (const each of [...added, '301', '7', 'x', '9007199254740993'])
            expect(ids.has(each)).toBe(known.has(each));
      }),
    );
  });
});
