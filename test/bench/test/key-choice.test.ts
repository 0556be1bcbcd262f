import { describe, expect, test } from 'vitest';
import { keyChooser } from '../src/databases/key-choice.js';
import { stagedRows } from '../src/databases/staged-rows.js';

const ROWS = 100_000;

function counted(choice: Parameters<typeof keyChooser>[0]): Uint32Array {
  const keyOf = keyChooser(choice);
  const counts = new Uint32Array(choice.keys);
  for (let row = 1; row <= ROWS; row += 1) counts[keyOf(row)] = (counts[keyOf(row)] ?? 0) + 1;
  return counts;
}

describe('the keys of a backlog', () => {
  test('are the same in every run', () => {
    const first = (choice: Parameters<typeof keyChooser>[0]): number[] =>
      Array.from({ length: 8 }, (_, index) => keyChooser(choice)(index + 1));
    expect(first({ keys: 5_000 })).toEqual([1727, 2078, 4487, 4093, 485, 4552, 660, 3187]);
    expect(first({ keys: 5_000, skew: 'zipf' })).toEqual([9, 2, 64, 1, 789, 14, 0, 7]);
    expect(first({ keys: 5_000, skew: 'own' })).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test('have about as many rows each', () => {
    const counts = counted({ keys: 100 });
    expect(Math.min(...counts)).toBeGreaterThan(850);
    expect(Math.max(...counts)).toBeLessThan(1_150);
  });

  test('have 1/n of the first one’s rows with zipf', () => {
    const counts = counted({ keys: 5_000, skew: 'zipf' });
    // The sum of 1/n up to 5,000 is 9.0945.
    for (const n of [1, 2, 3, 10, 100]) {
      const expected = ROWS / 9.0945 / n;
      expect(Math.abs((counts[n - 1] ?? 0) / expected - 1)).toBeLessThan(n < 100 ? 0.05 : 0.25);
    }
  });

  test('are one’s own as long as there are any', () => {
    expect(counted({ keys: ROWS, skew: 'own' }).every((count) => count === 1)).toBe(true);
  });

  test('number their rows without a gap, however they are cut into pieces', () => {
    const choice = { keys: 7, skew: 'zipf' } as const;
    const whole = [...stagedRows(1_000, choice, 1_000)][0];
    const pieces = [...stagedRows(1_000, choice, 333)];
    expect(pieces.map(({ numbers }) => numbers.length)).toEqual([333, 333, 333, 1]);
    for (const column of ['numbers', 'keys', 'ordinals'] as const)
      expect(pieces.flatMap((piece) => piece[column])).toEqual(whole?.[column]);
    const last = new Map<number, number>();
    for (const [index, key] of (whole?.keys ?? []).entries()) {
      expect(whole?.ordinals[index]).toBe((last.get(key) ?? 0) + 1);
      last.set(key, whole?.ordinals[index] ?? 0);
    }
  });
});
