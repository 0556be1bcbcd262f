import { describe, expect, test } from 'vitest';
import { check, FaultError } from '../src/readers/check.js';
import { InFlight } from '../src/readers/in-flight.js';
import type { Reading } from '../src/readers/reading.js';
import { TwoLives } from '../src/readers/two-lives.js';

const EXPECTED = Uint32Array.of(2, 0, 1);

const reading = (changes: Partial<Reading>): Reading => ({
  ...{ startedAt: 0, endedAt: 1, cpu: 1, peakMib: 1, arrivals: new Float64Array() },
  ...{ seen: 3, lastOrdinals: Uint32Array.of(2, 0, 1), faults: [] },
  ...changes,
});

describe('a reading', () => {
  test('that saw every row in order passes', () => {
    expect(() => {
      check('reader', reading({}), EXPECTED);
    }).not.toThrow();
  });

  test.each([
    ['missed the last row of a key', { seen: 2, lastOrdinals: Uint32Array.of(1, 0, 1) }],
    ['saw a row twice', { seen: 4 }],
    ['missed one row and saw another twice', { lastOrdinals: Uint32Array.of(1, 0, 2) }],
    ['saw a row out of order', { faults: ['key 0: row 2 came where 1 was due'] }],
  ])('that %s has no figure', (_, changes) => {
    expect(() => {
      check('reader', reading(changes), EXPECTED);
    }).toThrow(FaultError);
  });
});

describe('two handlers of one key at once', () => {
  test('are a fault', () => {
    const inFlight = new InFlight(2);
    inFlight.begin(0);
    inFlight.begin(1);
    inFlight.begin(0);
    expect(inFlight.faults).toEqual(['key 0: two handlers at once']);
  });

  test('are none when the first has ended', () => {
    const inFlight = new InFlight(1);
    for (let turn = 0; turn < 3; turn += 1) {
      inFlight.begin(0);
      inFlight.end(0);
    }
    expect(inFlight.faults).toEqual([]);
  });
});

describe('after a kill', () => {
  /** Rows as [key, ordinal]; `killed` is between the two processes. */
  type Row = readonly [key: number, ordinal: number];
  const judged = (first: readonly Row[], second: readonly Row[]): TwoLives => {
    const lives = new TwoLives(EXPECTED.length);
    const take = ([key, ordinal]: Row): unknown => lives.take({ key, ordinal, moment: 0 });
    first.forEach(take);
    lives.nextLife();
    second.forEach(take);
    return lives;
  };
  const all: readonly Row[] = [
    [0, 1],
    [2, 1],
    [0, 2],
  ];

  test.each([
    ['nothing', all, []],
    ['the rest', all.slice(0, 1), all.slice(1)],
    ['a suffix of a key again', all, [all[2]]],
    ['all of it again', all, all],
  ])('a process may handle %s', (_, first, second) => {
    const lives = judged(first, second as readonly Row[]);
    expect(() => {
      lives.check('killed', EXPECTED);
    }).not.toThrow();
    expect(lives.seen).toBe(3);
    expect(lives.duplicates).toBe(first.length + second.length - 3);
  });

  test.each<[string, readonly Row[], readonly Row[]]>([
    ['lose a row', all.slice(0, 2), []],
    [
      'skip a row and come back to it',
      [[2, 1]],
      [
        [0, 2],
        [0, 1],
      ],
    ],
    [
      'leave a gap in what it repeats',
      all,
      [
        [0, 1],
        [0, 2],
        [0, 2],
      ],
    ],
    [
      'swap rows before the kill',
      [
        [0, 2],
        [0, 1],
        [2, 1],
      ],
      [],
    ],
  ])('a process must not %s', (_, first, second) => {
    expect(() => {
      judged(first, second).check('killed', EXPECTED);
    }).toThrow(FaultError);
  });
});
