import { describe, expect, test } from 'vitest';
import { tailOf } from '../src/report/histogram.js';
import { median, ratios } from '../src/report/statistics.js';

describe('the median', () => {
  test.each([
    [[3], 3],
    [[9, 1, 5], 5],
    [[4, 1, 3, 2], 2.5],
    [[10, 9, 100], 10],
  ])('of %j is %d: by value and not by text', (values, expected) => {
    expect(median(values)).toBe(expected);
  });

  test('of nothing is no number', () => {
    expect(median([])).toBeNaN();
  });
});

test('a ratio is made within its round', () => {
  expect(ratios([10, 30], [20, 40])).toEqual([0.5, 0.75]);
  expect(ratios([10, 30], [20])).toEqual([0.5, NaN]);
});

describe('the tail of many times', () => {
  test('is that of the sorted values, to within a thousandth', () => {
    const times = Array.from({ length: 10_000 }, (_, index) => (10_000 - index) / 100);
    const { p50, p99, p999, max } = tailOf(times);
    for (const [found, exact] of [
      [p50, 50],
      [p99, 99],
      [p999, 99.9],
      [max, 100],
    ] as const)
      expect(Math.abs(found / exact - 1)).toBeLessThan(0.001);
  });

  test('keeps one slow row among many', () => {
    const times = Array.from({ length: 100_000 }, () => 0.2);
    times[777] = 4_000;
    const { p999, max } = tailOf(times);
    expect(p999).toBeCloseTo(0.2, 3);
    expect(max).toBeGreaterThan(3_990);
  });

  test('takes a row that came before its commit had returned for one that took nothing', () => {
    expect(tailOf([-3, -1, -2]).max).toBeCloseTo(0, 5);
  });
});
