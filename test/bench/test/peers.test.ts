import { describe, expect, test } from 'vitest';
import { faultOf } from '../src/peers/check-peer.js';
import { PeerRecord } from '../src/peers/peer-record.js';
import type { PeerReading } from '../src/peers/peer.js';

type Step = readonly ['begin', key: number, ordinal: number] | readonly ['end', key: number];

const begin = (key: number, ordinal: number): Step => ['begin', key, ordinal];
const end = (key: number): Step => ['end', key];
const call = (key: number, ordinal: number): Step[] => [begin(key, ordinal), end(key)];

/** Two keys, of which the first has three rows and the second has two. */
const ROWS_PER_KEY = Uint32Array.of(3, 2);

async function played(steps: readonly Step[], limit = 1): Promise<PeerReading> {
  const record = new PeerRecord({ rows: 5, keys: 2, limit });
  for (const step of steps) {
    if (step[0] === 'begin') record.begin(step[1], step[2]);
    else record.end(step[1]);
  }
  return record.reading;
}

describe('a speed is printed when what a peer saw is a beginning of each key, in order', () => {
  test.each<[string, readonly Step[]]>([
    ['all rows', [...call(0, 1), ...call(1, 1), ...call(0, 2), ...call(0, 3), ...call(1, 2)]],
    [
      'keys side by side',
      [begin(0, 1), begin(1, 1), end(1), end(0), ...call(1, 2), ...call(0, 2), ...call(0, 3)],
    ],
    ['the first rows, and then the time is over', [...call(1, 1), ...call(0, 1), begin(0, 2)]],
  ])('%s', async (_, steps) => {
    const reading = await played(steps);
    expect(faultOf(reading, ROWS_PER_KEY)).toBeNull();
    expect(reading.seen).toBe(steps.filter(([what]) => what === 'end').length);
  });
});

describe('there is none, and a sentence instead, when it', () => {
  test.each<[string, readonly Step[], string]>([
    ['swaps', [...call(0, 2), ...call(0, 1)], 'key 0: row 2 came where 1 was due'],
    ['repeats', [...call(1, 1), ...call(1, 1)], 'key 1: row 1 came where 2 was due'],
    ['leaves out', [...call(0, 1), ...call(0, 3)], 'key 0: row 3 came where 2 was due'],
    ['overlaps', [begin(0, 1), begin(0, 2), end(0), end(0)], 'key 0: row 2 starts while row 1 runs'],
    [
      'overlaps at last',
      [...call(1, 1), begin(0, 1), ...call(1, 2), begin(0, 2)],
      'key 0: row 2 starts while row 1 runs',
    ],
    ['invents', [...call(1, 1), ...call(1, 2), ...call(1, 3)], 'key 1: row 3 came, and there are 2'],
  ])('%s', async (_, steps, says) => {
    expect(faultOf(await played(steps), ROWS_PER_KEY)).toBe(says);
  });

  test('saw nothing', () => {
    const nothing = { startedAt: NaN, endedAt: NaN, cpu: 0, seen: 0, faults: [] };
    expect(faultOf({ ...nothing, lastOrdinals: new Uint32Array(2) }, ROWS_PER_KEY)).toBe('it saw no row');
  });
});

test('the clock runs from the first row to the last, and calls after it count no more', async () => {
  const record = new PeerRecord({ rows: 1, keys: 1, limit: 60_000 });
  record.begin(0, 1);
  record.end(0);
  record.begin(0, 7);
  const reading = await record.reading;
  expect(reading).toMatchObject({ seen: 1, faults: [], lastOrdinals: Uint32Array.of(1) });
  expect(reading.endedAt).toBeGreaterThanOrEqual(reading.startedAt);
});

test('when the time is over, the clock has run for it', async () => {
  const { startedAt, endedAt, seen } = await played(call(0, 1), 20);
  expect(seen).toBe(1);
  // Timers may fire a little early by the finer clock.
  expect(endedAt - startedAt).toBeGreaterThan(18);
});
