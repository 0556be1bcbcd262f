import { expect, test } from 'vitest';
import { highestRate } from '../src/benchmarks/rate-search.js';

/** Searches a machine that holds up to `limit`, and notes what was tried. */
async function search(limit: number): Promise<{ found: number; tried: number[] }> {
  const tried: number[] = [];
  const found = await highestRate(1_000, (rate) => {
    tried.push(rate);
    return Promise.resolve(rate <= limit);
  });
  return { found, tried };
}

test('a rate is doubled until it does not hold, and halved in between three times', async () => {
  expect(await search(5_200)).toEqual({
    found: 5_000,
    tried: [1_000, 2_000, 4_000, 8_000, 6_000, 5_000, 5_500],
  });
});

test('what is found has held', async () => {
  for (let limit = 1_000; limit < 50_000; limit += 777) {
    const { found } = await search(limit);
    expect(found).toBeLessThanOrEqual(limit);
    expect(found).toBeGreaterThan(limit / 1.2);
  }
});

test('nothing is found when the first rate does not hold', async () => {
  expect(await search(999)).toEqual({ found: NaN, tried: [1_000] });
});

test('a machine that holds everything is not asked for ever', async () => {
  expect((await search(Infinity)).tried.length).toBeLessThan(20);
});
