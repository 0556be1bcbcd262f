import { describe, expect, it } from 'vitest';
import { isPermanent, outcomeOf, type Outcome } from '../src/outcome.js';
import { retryAfterOf } from '../src/retry-after.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const rules = { permanent: isPermanent, maxRetryAfter: 60_000 };
const settled: Outcome = { kind: 'settled' };
const redirect: Outcome = { kind: 'redirect' };
const permanent: Outcome = { kind: 'permanent' };
const again: Outcome = { kind: 'retry', after: null };

describe('what follows from a status', () => {
  it.each<[number, Outcome]>([
    [200, settled],
    [202, settled],
    [204, settled],
    [299, settled],
    [300, redirect],
    [301, redirect],
    [304, redirect],
    [308, redirect],
    [400, permanent],
    [401, permanent],
    [403, permanent],
    [404, permanent],
    [408, again],
    [409, again],
    [410, permanent],
    [413, permanent],
    [418, permanent],
    [421, again],
    [422, permanent],
    [425, again],
    [429, again],
    [451, permanent],
    [499, permanent],
    [500, again],
    [501, again],
    [502, again],
    [503, again],
    [504, again],
    [599, again],
    [600, again],
  ])('%i', (status, outcome) => {
    expect(outcomeOf({ status, retryAfter: null }, rules, NOW)).toEqual(outcome);
  });

  it('is asked of the rule for all but 2xx and 3xx', () => {
    const asked: number[] = [];
    const permanent = (status: number): boolean => asked.push(status) > 0 && status === 503;
    const kinds = [200, 302, 404, 503].map(
      (status) => outcomeOf({ status, retryAfter: null }, { ...rules, permanent }, NOW).kind,
    );
    expect(kinds).toEqual(['settled', 'redirect', 'retry', 'permanent']);
    expect(asked).toEqual([404, 503]);
  });
});

describe('Retry-After', () => {
  it.each<[string, number | null]>([
    ['0', 0],
    ['7', 7_000],
    [' 7 ', 7_000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['Thu, 32 Jan 2026 00:00:30 GMT', null],
    ['2026-01-01T00:00:30Z', null],
    ['-1', null],
    ['1.5', null],
    ['soon', null],
    ['', null],
  ])('%j', (header, milliseconds) => {
    expect(retryAfterOf(header, NOW)).toBe(milliseconds);
  });

  it('holds a key up for so long at most, and is of no account where nothing is retried', () => {
    const after = (status: number, retryAfter: string): Outcome =>
      outcomeOf({ status, retryAfter }, rules, NOW);
    expect(after(429, '30')).toEqual({ kind: 'retry', after: 30_000 });
    expect(after(503, '9999999999')).toEqual({ kind: 'retry', after: 60_000 });
    expect(after(503, 'Fri, 01 Jan 2027 00:00:00 GMT')).toEqual({ kind: 'retry', after: 60_000 });
    expect(after(503, 'never')).toEqual(again);
    expect(after(404, '30')).toEqual(permanent);
    expect(after(302, '30')).toEqual(redirect);
  });
});
