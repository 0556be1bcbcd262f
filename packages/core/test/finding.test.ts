import { describe, expect, it } from 'vitest';
import { clockVerdict } from '../src/clock-difference.js';
import { answerOf, fail, findingsOf, pass, type Asked, type Check } from '../src/finding.js';

interface Facts {
  readonly a: Asked<number>;
  readonly b: Asked<number>;
}

const CHECKS: readonly Check<Facts>[] = [
  { check: 'a', why: 'A.', judge: ({ a }) => (answerOf(a) > 0 ? pass('above') : fail('below', 'raise it')) },
  { check: 'b', why: 'B.', judge: ({ b }) => (answerOf(b) > 0 ? pass('above') : null) },
];

describe('checks', () => {
  it('are made each for itself: what could not be asked is a warning of those that need it', () => {
    const unasked = { unasked: 'denied', remedy: 'grant it' };
    expect(findingsOf(CHECKS, { a: unasked, b: { answer: 1 } })).toEqual([
      { check: 'a', why: 'A.', result: 'warn', found: 'not known: denied', remedy: 'grant it' },
      { check: 'b', why: 'B.', result: 'pass', found: 'above', remedy: null },
    ]);
  });

  it('that have nothing to judge are left out', () => {
    expect(findingsOf(CHECKS, { a: { answer: 0 }, b: { answer: 0 } }).map(({ check }) => check)).toEqual([
      'a',
    ]);
  });

  it('do not hide a fault of their own', () => {
    const broken: Check<null> = {
      ...{ check: 'c', why: 'C.' },
      judge: () => {
        throw new TypeError('a fault');
      },
    };
    expect(() => findingsOf([broken], null)).toThrow('a fault');
  });
});

describe('another clock', () => {
  it.each([
    ['within the round trip', { askedAt: 0, answeredAt: 4_000, there: 3_999 }, 'pass', '0.0 s'],
    ['a little ahead', { askedAt: 0, answeredAt: 10, there: 900 }, 'pass', '0.9 s'],
    ['ahead', { askedAt: 0, answeredAt: 10, there: 5_010 }, 'warn', '5.0 s ahead of ours'],
    ['behind', { askedAt: 9_000, answeredAt: 9_010, there: 0 }, 'warn', '9.0 s behind ours'],
  ] as const)('%s', (_, reading, result, found) => {
    expect(clockVerdict(reading)).toMatchObject({ result, found: expect.stringContaining(found) as string });
  });
});
