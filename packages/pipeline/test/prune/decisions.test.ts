import type { OutboxPruner, RowKey } from '@strandline/core';
import { describe, expect, it } from 'vitest';
import { Candidates } from '../../src/prune/candidates.js';
import { nextChunk, restAfter } from '../../src/prune/pace.js';
import { pauseFor } from '../../src/prune/pauses.js';

describe('the next chunk', () => {
  const limits = { chunk: 1_000, longest: 250 };
  it.each([
    ['halves after one that took too long', 1_000, 251, 500],
    ['stays after one that took well enough', 500, 250, 500],
    ['grows after a quick one', 400, 50, 500],
    ['grows from one row', 1, 1, 2],
    ['never gets larger than it may', 1_000, 1, 1_000],
    ['never gets to nothing', 1, 5_000, 1],
  ])('%s', (_, size, took, expected) => {
    expect(nextChunk(size, took, limits)).toBe(expected);
  });

  it.each([
    [100, 0.25, 300],
    [100, 1, 0],
    [100, 0.5, 100],
  ])('%i ms of work at a duty of %d are followed by %i ms of rest', (took, duty, rest) => {
    expect(restAfter(took, duty)).toBeCloseTo(rest);
  });
});

describe('it pauses', () => {
  const limits = { replicaLag: { time: 1_000, bytes: 500 }, activeSessions: 3 };
  const replica = { name: 'r', time: 0, bytes: 0 };
  it.each([
    ['never on a quiet server', 3, [], null],
    ['while more sessions are at work', 4, [], 'busy'],
    ['not for a replica that is near', 0, [{ ...replica, time: 1_000, bytes: 500 }], null],
    ['for one that is seconds behind', 0, [replica, { ...replica, time: 1_001 }], 'replicas'],
    ['for one that is bytes behind', 0, [{ ...replica, time: null, bytes: 501 }], 'replicas'],
    ['for one that does not tell', 0, [{ ...replica, time: null, bytes: null }], 'replicas'],
    ['not for one that tells one of the two', 0, [{ ...replica, time: 0, bytes: null }], null],
  ])('%s', (_, active, replicas, expected) => {
    expect(pauseFor({ active, replicas }, limits)?.kind ?? null).toBe(expected);
  });
});

describe('the search for old rows', () => {
  /** A table of so many rows, of which these are old, looked at by ten thousand. */
  function table(
    rows: number,
    old: ReadonlySet<number>,
    thorough = false,
  ): { find: () => Promise<readonly RowKey[]>; looked: number[] } {
    const looked: number[] = [];
    const search = new Candidates(thorough);
    const pruner: Pick<OutboxPruner, 'look'> = {
      look: (after, limit) => {
        const from = after === null ? 0 : Number(after[0]) + 1;
        const until = Math.min(rows, from + Math.min(limit, 10_000));
        looked.push(from);
        const found = [...old].filter((id) => id >= from && id < until).map((id) => [String(id)]);
        return Promise.resolve({
          old: found,
          looked: until - from,
          last: until === rows ? null : [String(until - 1)],
        });
      },
    };
    return { find: () => search.find(pruner), looked };
  }

  it('begins at the beginning each time, and comes to all of a large table in turn', async () => {
    const old = new Set([350_000]);
    const { find, looked } = table(400_000, old);
    expect(await find()).toEqual([]);
    expect(looked.length).toBe(20);
    old.add(3);
    expect(await find()).toEqual([['3']]);
    old.delete(3);
    expect(await find()).toEqual([]);
    expect(await find()).toEqual([['350000']]);
    expect(await table(400_000, old, true).find()).toEqual([['350000']]);
  });

  it('holds a limited number of rows', async () => {
    const { find } = table(200_000, new Set(Array.from({ length: 200_000 }, (_, id) => id)));
    expect((await find()).length).toBe(50_000);
  });
});
