import { describe, expect } from 'vitest';
import {
  event,
  headOf,
  ids,
  letter,
  lettersOf,
  parked,
  PIPELINE,
  ROOMY,
  waiting,
  type Each,
} from './dead-letter-fixtures.js';

export function describeParking(each: Each): void {
  describe('parking', () => {
    each('keeps letters in their order, behind those that wait', async (claimed) => {
      await parked(claimed, 'a', 9, 12);
      await parked(claimed, 'b', 1, 1);
      await parked(claimed, 'a', 2, 4);
      const letters = await claimed.store.read(claimed.fence, 'a', 10);
      expect(ids(letters)).toEqual(['9', '10', '11', '12', '2', '3', '4']);
      const places = letters.map(({ place }) => place);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect(new Set(places).size).toBe(7);
      expect(letters.map(({ reason }) => reason).slice(0, 2)).toEqual(['failed', 'behind']);
      expect(letters[0]?.failure).toMatchObject({ error: { message: 'no stock' }, attempts: 3 });
      expect(letters[1]?.failure).toBeNull();
      expect(letters.every(({ state }) => state === 'waiting')).toBe(true);
    });

    each('in front comes before all that wait, as often as it is done', async (claimed) => {
      const { store, fence } = claimed;
      await parked(claimed, 'a', 5, 6);
      expect(await store.park(fence, 'a', lettersOf('a', 3, 4), 'front', ROOMY)).toBe('stored');
      expect(await store.park(fence, 'a', lettersOf('a', 1, 2), 'front', ROOMY)).toBe('stored');
      await parked(claimed, 'a', 7, 7);
      expect(await waiting(claimed, 'a')).toEqual(['1', '2', '3', '4', '5', '6', '7']);
    });

    each('in front is before what waits when the head was handled', async (claimed) => {
      const { store, fence } = claimed;
      await parked(claimed, 'a', 1, 3);
      await store.handled(fence, [await headOf(claimed, 'a')]);
      await store.park(fence, 'a', lettersOf('a', 9, 9), 'front', ROOMY);
      expect(await waiting(claimed, 'a')).toEqual(['9', '2', '3']);
    });

    each('what is said twice is stored once', async (claimed) => {
      const { desk } = claimed;
      await parked(claimed, 'a', 1, 3);
      await parked(claimed, 'a', 1, 3);
      await parked(claimed, 'a', 2, 5);
      expect(await waiting(claimed, 'a')).toEqual(['1', '2', '3', '4', '5']);
      const twice = [...lettersOf('a', 6, 7), ...lettersOf('a', 6, 7)];
      await claimed.store.park(claimed.fence, 'a', twice, 'front', ROOMY);
      await claimed.store.park(claimed.fence, 'a', twice, 'front', ROOMY);
      expect(await waiting(claimed, 'a')).toEqual(['6', '7', '1', '2', '3', '4', '5']);
      expect(await desk.counts(PIPELINE)).toEqual({ keys: 1, waiting: 7, skipped: 0 });
    });

    each('an event of another key, id, transaction or ordinal is another one', async (claimed) => {
      const { store, fence } = claimed;
      const one = event('a', 1);
      const others = [
        event('a', 1, { id: '2' }),
        event('a', 1, { transaction: { ...one.transaction, id: 't2' } }),
        event('a', 1, { transaction: { ...one.transaction, ordinal: 2 } }),
      ];
      for (const other of [one, ...others])
        expect(await store.park(fence, 'a', [letter(other)], 'behind', ROOMY)).toBe('stored');
      expect(await store.park(fence, 'A', [letter(event('A', 1))], 'behind', ROOMY)).toBe('stored');
      expect((await waiting(claimed, 'a')).length).toBe(4);
      expect((await waiting(claimed, 'A')).length).toBe(1);
    });

    each('what the log brings again keeps its place and its state', async (claimed) => {
      const { store, desk, fence } = claimed;
      await parked(claimed, 'a', 1, 4);
      await store.handled(fence, [await headOf(claimed, 'a')]);
      await desk.skipHead(PIPELINE, 'a');
      await parked(claimed, 'a', 1, 5);
      expect(await waiting(claimed, 'a')).toEqual(['3', '4', '5']);
      await desk.discard(PIPELINE, 'a');
      await parked(claimed, 'a', 1, 5);
      expect(await waiting(claimed, 'a')).toEqual([]);
      const states = (await desk.list(PIPELINE, {}, { after: null, limit: 10 })).map(({ state }) => state);
      expect(states).toEqual(['handled', 'discarded', 'discarded', 'discarded', 'discarded']);
    });

    each('skipping stores an event that holds nothing up, once', async (claimed) => {
      const { store, desk, fence } = claimed;
      expect(await store.skip(fence, letter(event('a', 1), 'failed'), ROOMY)).toBe('stored');
      expect(await store.skip(fence, letter(event('a', 1), 'failed'), ROOMY)).toBe('stored');
      expect(await waiting(claimed, 'a')).toEqual([]);
      expect(await store.released(fence, 10)).toEqual([]);
      expect(await desk.counts(PIPELINE)).toEqual({ keys: 0, waiting: 0, skipped: 1 });
      const [skipped] = await desk.list(PIPELINE, { state: 'skipped' }, { after: null, limit: 10 });
      expect(skipped).toMatchObject({ reason: 'failed', failure: { attempts: 3 } });
    });
  });

  describe('what a key waits for', () => {
    each('one that failed waits for somebody', async (claimed) => {
      await parked(claimed, 'a', 1, 2);
      expect(await claimed.store.released(claimed.fence, 10)).toEqual([]);
    });

    each('one that failed with a schedule is released when it is due', async (claimed) => {
      const { store, fence } = claimed;
      const past = '2026-01-01T00:00:00Z';
      const future = '2999-01-01T00:00:00.000Z';
      await store.park(fence, 'due', lettersOf('due', 1, 1), 'behind', ROOMY, past);
      await store.park(fence, 'later', lettersOf('later', 2, 2), 'behind', ROOMY, future);
      expect(await store.released(fence, 10)).toEqual(['due']);
      // A follower leaves the schedule as it is.
      await store.park(fence, 'due', [letter(event('due', 3))], 'behind', ROOMY);
      expect(await store.released(fence, 10)).toEqual(['due']);
    });

    each('one that has overflown is released at once, until its head fails', async (claimed) => {
      const { store, fence } = claimed;
      await store.park(fence, 'a', [letter(event('a', 2), 'overflow')], 'behind', ROOMY);
      await store.park(fence, 'a', [letter(event('a', 3), 'overflow')], 'behind', ROOMY);
      expect(await store.released(fence, 10)).toEqual(['a']);
      await store.park(fence, 'a', [letter(event('a', 1), 'failed')], 'front', ROOMY);
      expect(await store.released(fence, 10)).toEqual([]);
      expect(await waiting(claimed, 'a')).toEqual(['1', '2', '3']);
    });

    each('one that an operator parks waits, whatever it was before', async (claimed) => {
      const { store, fence } = claimed;
      await store.park(fence, 'a', [letter(event('a', 2), 'overflow')], 'behind', ROOMY);
      await store.park(fence, 'a', [letter(event('a', 1), 'operator')], 'front', ROOMY, null);
      expect(await store.released(fence, 10)).toEqual([]);
      const [head] = await store.read(fence, 'a', 1);
      expect(head).toMatchObject({ reason: 'operator', failure: null, event: { id: '1' } });
    });

    each('one of which all was done before is released: nothing waits', async (claimed) => {
      const { store, fence } = claimed;
      await parked(claimed, 'a', 1, 1);
      await store.handled(fence, [await headOf(claimed, 'a')]);
      expect(await store.unpark(fence, 'a')).toBe(true);
      await parked(claimed, 'a', 1, 1);
      expect(await store.released(fence, 10)).toEqual(['a']);
      expect(await store.unpark(fence, 'a')).toBe(true);
      expect(await store.released(fence, 10)).toEqual([]);
    });

    each('what is said twice takes no release back', async (claimed) => {
      const { store, desk, fence } = claimed;
      await parked(claimed, 'a', 1, 2);
      await desk.retry(PIPELINE, { key: 'a' });
      await parked(claimed, 'a', 1, 2);
      expect(await store.released(fence, 10)).toEqual(['a']);
    });
  });

  describe('limits', () => {
    each('per key: all of a call or nothing', async (claimed) => {
      const { store, fence, desk } = claimed;
      const limits = { perKey: 3, inAll: 100 };
      const park = (from: number, to: number): Promise<string> =>
        store.park(fence, 'a', lettersOf('a', from, to), 'behind', limits);
      expect(await park(1, 2)).toBe('stored');
      expect(await park(3, 4)).toBe('full');
      expect(await waiting(claimed, 'a')).toEqual(['1', '2']);
      // What is there already takes no room.
      expect(await park(1, 3)).toBe('stored');
      expect(await park(1, 3)).toBe('stored');
      expect(await park(4, 4)).toBe('full');
      expect(await store.park(fence, 'b', lettersOf('b', 5, 7), 'behind', limits)).toBe('stored');
      await store.handled(fence, [await headOf(claimed, 'a')]);
      expect(await park(4, 4)).toBe('stored');
      expect(await desk.counts(PIPELINE)).toEqual({ keys: 2, waiting: 6, skipped: 0 });
    });

    each('in all: what waits and what was skipped', async (claimed) => {
      const { store, fence, desk } = claimed;
      const limits = { perKey: 10, inAll: 4 };
      const park = (key: string, n: number): Promise<string> =>
        store.park(fence, key, lettersOf(key, n, n), 'behind', limits);
      const skip = (key: string, n: number): Promise<string> =>
        store.skip(fence, letter(event(key, n), 'failed'), limits);
      expect(await park('a', 1)).toBe('stored');
      expect(await park('b', 2)).toBe('stored');
      expect(await skip('c', 3)).toBe('stored');
      expect(await skip('c', 4)).toBe('stored');
      expect(await park('d', 5)).toBe('full');
      expect(await skip('d', 5)).toBe('full');
      expect(await skip('c', 4)).toBe('stored');
      expect(await park('a', 1)).toBe('stored');
      expect(await desk.discard(PIPELINE, 'c')).toBe(2);
      expect(await park('d', 5)).toBe('stored');
      await desk.skipHead(PIPELINE, 'a'); // is still there
      expect(await park('e', 6)).toBe('stored');
      expect(await park('f', 7)).toBe('full');
      await store.handled(fence, [await headOf(claimed, 'b')]);
      expect(await park('f', 7)).toBe('stored');
      expect(await desk.counts(PIPELINE)).toEqual({ keys: 3, waiting: 3, skipped: 1 });
    });
  });
}
