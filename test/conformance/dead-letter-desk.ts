import type { DeadLetter, LetterFilter } from '@strandline/core';
import { describe, expect } from 'vitest';
import {
  closing,
  event,
  failure,
  headOf,
  ids,
  letter,
  lettersOf,
  parked,
  PIPELINE,
  ROOMY,
  waiting,
  type Claimed,
  type Each,
} from './dead-letter-fixtures.js';

/** a: 1 (failed), 2; b: 3 (failed, of another type, with a code); c: 4 (skipped), 5 (skipped). */
async function fill(claimed: Claimed): Promise<void> {
  const { store, fence } = claimed;
  await parked(claimed, 'a', 1, 2);
  const lost = failure('connection lost');
  const refused = { ...lost, error: { ...lost.error, name: 'TimeoutError', code: 'E100%_' } };
  const other = { event: event('b', 3, { type: 'Paid ' }), reason: 'failed' as const, failure: refused };
  await store.park(fence, 'b', [other], 'behind', ROOMY);
  for (const n of [4, 5]) await store.skip(fence, letter(event('c', n), 'failed'), ROOMY);
}

const FILTERS: readonly (readonly [LetterFilter, readonly string[]])[] = [
  [{}, ['1', '2', '3', '4', '5']],
  [{ key: 'a' }, ['1', '2']],
  [{ key: 'A' }, []],
  [{ type: 'paid' }, ['1', '2', '4', '5']],
  [{ type: 'Paid ' }, ['3']],
  [{ type: 'Paid' }, []],
  [{ error: 'stock' }, ['1', '4', '5']],
  [{ error: 'Timeout' }, ['3']],
  [{ error: '0%_' }, ['3']],
  [{ error: '%' }, ['3']],
  [{ error: 'lost' }, ['3']],
  [{ error: 'LOST' }, []],
  [{ state: 'waiting' }, ['1', '2', '3']],
  [{ state: 'skipped' }, ['4', '5']],
  [{ olderThan: 0 }, ['1', '2', '3', '4', '5']],
  [{ olderThan: 3_600_000 }, []],
  [{ key: 'c', error: 'stock', state: 'skipped', type: 'paid', olderThan: 0 }, ['4', '5']],
];

export function describeDesk(each: Each): void {
  describe('the desk', () => {
    each('lists what fits', async (claimed) => {
      await fill(claimed);
      for (const [filter, expected] of FILTERS) {
        const found = await claimed.desk.list(PIPELINE, filter, { after: null, limit: 10 });
        expect(ids(found), JSON.stringify(filter)).toEqual(expected);
      }
    });

    each('is opened by a store too, and is there when that is closed', async (claimed) => {
      await fill(claimed);
      const { store, desk } = claimed;
      await using own = closing(store.desk());
      expect(await own.counts(PIPELINE)).toEqual(await desk.counts(PIPELINE));
      await store.close();
      expect(await own.retry(PIPELINE, { key: 'a' })).toEqual(['a']);
    });

    each('lists in pages', async (claimed) => {
      await fill(claimed);
      const { desk } = claimed;
      const first = await desk.list(PIPELINE, {}, { after: null, limit: 2 });
      const second = await desk.list(PIPELINE, {}, { after: first[1]?.id ?? '', limit: 2 });
      const third = await desk.list(PIPELINE, {}, { after: second[1]?.id ?? '', limit: 2 });
      expect([first, second, third].map(ids)).toEqual([['1', '2'], ['3', '4'], ['5']]);
      expect(await desk.list(PIPELINE, {}, { after: third[0]?.id ?? '', limit: 2 })).toEqual([]);
    });

    each('shows a letter of the pipeline, by its number', async (claimed) => {
      await fill(claimed);
      const { backend, desk } = claimed;
      const [first] = await desk.list(PIPELINE, {}, { after: null, limit: 1 });
      expect(await desk.show(PIPELINE, first?.id ?? '')).toEqual(first);
      await using other = closing(backend.open());
      await other.claim({ pipeline: 'other', epoch: 1 }, 'w');
      for (const [pipeline, id] of [
        ['other', first?.id ?? ''],
        [PIPELINE, '999999999'],
        [PIPELINE, '9'.repeat(40)],
        [PIPELINE, "1' or '1'='1"],
        [PIPELINE, '-1'],
        ['none', '1'],
      ] as const)
        expect(await desk.show(pipeline, id)).toBeNull();
    });

    each('of a store is over the same table, and outlives it', async (claimed) => {
      await fill(claimed);
      const store = claimed.backend.open();
      await using desk = closing(store.desk());
      await store.close();
      expect(await desk.counts(PIPELINE)).toEqual({ keys: 2, waiting: 3, skipped: 2 });
    });

    each('knows nothing of a pipeline that was never there', async ({ desk }) => {
      expect(await desk.list('none', {}, { after: null, limit: 10 })).toEqual([]);
      expect(await desk.counts('none')).toEqual({ keys: 0, waiting: 0, skipped: 0 });
      expect(await desk.retry('none', {})).toEqual([]);
      expect(await desk.skipHead('none', 'a')).toBeNull();
      expect(await desk.discard('none', 'a')).toBe(0);
    });

    for (const [filter, keys] of [
      [{ key: 'a' }, ['a']],
      [{ error: 'Timeout' }, ['b']],
      [{ type: 'paid', state: 'waiting' }, ['a']],
      [{ state: 'waiting' }, ['a', 'b']],
      [{ olderThan: 3_600_000 }, []],
      [{ state: 'handled' }, []],
      [{ error: 'stock' }, ['a', 'c']],
      [{}, ['a', 'b', 'c']],
    ] as readonly (readonly [LetterFilter, readonly string[]])[]) {
      each(`retries ${JSON.stringify(filter)}`, async (claimed) => {
        await fill(claimed);
        const { store, desk, fence } = claimed;
        expect((await desk.retry(PIPELINE, filter)).toSorted()).toEqual(keys);
        expect((await store.released(fence, 10)).toSorted()).toEqual(keys);
        expect((await desk.retry(PIPELINE, filter)).toSorted()).toEqual(keys);
        expect(await waiting(claimed, 'c')).toEqual(keys.includes('c') ? ['4', '5'] : []);
      });
    }

    each('puts what was skipped back behind what waits', async (claimed) => {
      const { store, desk, fence } = claimed;
      await parked(claimed, 'a', 1, 4);
      await parked(claimed, 'b', 9, 9);
      await desk.skipHead(PIPELINE, 'a');
      await desk.skipHead(PIPELINE, 'a');
      await parked(claimed, 'a', 5, 5);
      expect(await desk.counts(PIPELINE)).toEqual({ keys: 2, waiting: 4, skipped: 2 });
      expect(await desk.retry(PIPELINE, { state: 'skipped' })).toEqual(['a']);
      expect(await desk.counts(PIPELINE)).toEqual({ keys: 2, waiting: 6, skipped: 0 });
      await store.park(fence, 'a', [letter(event('a', 6))], 'behind', ROOMY);
      expect(await waiting(claimed, 'a')).toEqual(['3', '4', '5', '1', '2', '6']);
      expect(await store.released(fence, 10)).toEqual(['a']);
    });

    each('skips no other head than the one that is meant', async (claimed) => {
      const { store, desk, fence } = claimed;
      await parked(claimed, 'a', 1, 2);
      const { id } = await headOf(claimed, 'a');
      await desk.skipHead(PIPELINE, 'a');
      await store.released(fence, 10);
      expect(await desk.skipHead(PIPELINE, 'a', id)).toBeNull();
      expect(await waiting(claimed, 'a')).toEqual(['2']);
      const next = await headOf(claimed, 'a');
      expect(await desk.skipHead(PIPELINE, 'a', next.id)).toMatchObject({ id: next.id });
    });

    each('skips the head, and tells it', async (claimed) => {
      const { store, desk, fence } = claimed;
      await parked(claimed, 'a', 1, 2);
      const head = await headOf(claimed, 'a');
      expect(await desk.skipHead(PIPELINE, 'a')).toEqual({ ...head, state: 'skipped' });
      expect(await waiting(claimed, 'a')).toEqual(['2']);
      expect(await store.released(fence, 10)).toEqual(['a']);
      expect(await desk.skipHead(PIPELINE, 'a')).toMatchObject({ event: { id: '2' } });
      expect(await desk.skipHead(PIPELINE, 'a')).toBeNull();
      expect(await store.unpark(fence, 'a')).toBe(true);
      expect(await desk.counts(PIPELINE)).toEqual({ keys: 0, waiting: 0, skipped: 2 });
    });

    each('discards a key, and what comes of it is behind nothing any more', async (claimed) => {
      const { store, desk, fence } = claimed;
      await fill(claimed);
      expect(await desk.discard(PIPELINE, 'a')).toBe(2);
      expect(await desk.discard(PIPELINE, 'a')).toBe(0);
      expect(await desk.discard(PIPELINE, 'c')).toBe(2);
      expect(await store.released(fence, 10)).toEqual(['a']);
      await store.park(fence, 'a', [letter(event('a', 6))], 'behind', ROOMY);
      expect(await store.released(fence, 10)).toEqual(['a']);
      expect(await waiting(claimed, 'a')).toEqual(['6']);
      expect(await desk.retry(PIPELINE, { state: 'discarded' })).toEqual([]);
    });
  });

  describe('an owner and two desks at once', () => {
    each('get in nobody’s way, and lose nothing', async (claimed) => {
      const { backend, store, desk, fence } = claimed;
      await using second = closing(backend.desk());
      const keys = Array.from({ length: 8 }, (_, i) => `k${String(i)}`);
      const owner = async (): Promise<void> => {
        for (let round = 0; round < 12; round += 1) {
          for (const [i, key] of keys.entries()) {
            const from = round * 100 + i * 10;
            const result = await store.park(fence, key, lettersOf(key, from, from + 4), 'behind', ROOMY);
            expect(result).toBe('stored');
          }
          for (const key of await store.released(fence, 4)) {
            for (const one of await store.read(fence, key, 3)) await store.handled(fence, [one]);
            await store.unpark(fence, key);
          }
          await store.prune(fence, (position) => position.endsWith('1'), 10);
        }
      };
      const operator = async (one: typeof desk, turn: number): Promise<void> => {
        for (let round = 0; round < 20; round += 1) {
          const key = keys[(round * (turn + 2)) % keys.length] ?? '';
          await one.retry(PIPELINE, turn === 0 ? {} : { key });
          await one.skipHead(PIPELINE, key);
          if (round % 5 === turn) await one.discard(PIPELINE, key);
          await one.list(PIPELINE, { key }, { after: null, limit: 20 });
        }
      };
      await Promise.all([owner(), operator(desk, 0), operator(second, 1)]);
      const all: DeadLetter[] = [];
      for (let after: string | null = null; ;) {
        const page = await desk.list(PIPELINE, {}, { after, limit: 500 });
        const last = page.at(-1);
        if (last === undefined) break;
        all.push(...page);
        after = last.id;
      }
      const counted = await desk.counts(PIPELINE);
      const of = (state: string): number => all.filter((one) => one.state === state).length;
      expect(counted).toMatchObject({ waiting: of('waiting'), skipped: of('skipped') });
      expect(new Set(all.map(({ place }) => place)).size).toBe(all.length);
      let read = 0;
      for (const key of keys) read += (await store.read(fence, key, 1_000)).length;
      expect(read).toBe(of('waiting'));
    });
  });
}
