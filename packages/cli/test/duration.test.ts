import { describe, expect, test } from 'vitest';
import { parseDuration } from '../src/duration.js';

describe('a time that is typed', () => {
  test.each([
    ['0ms', 0],
    ['250ms', 250],
    ['30s', 30_000],
    ['10m', 600_000],
    ['1.5h', 5_400_000],
    ['7d', 604_800_000],
  ])('%s is %d ms', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  test.each(['10', '', 'm', '-1m', '10 m', '10M', '10min', '1e3s', '10m5s'])('%j is refused', (text) => {
    expect(() => parseDuration(text)).toThrow('Use a number with ms, s, m, h or d, such as 10m.');
  });
});
