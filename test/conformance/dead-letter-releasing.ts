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
  type Each,
} from './dead-letter-fixtures.js';

export function describeReleasing(each: Each): void {
  describe('releasing', () => {
    each('runs the letters out, and then the key is live', async (claimed) => {
      const { store, desk, fence } = claimed;
      await parked(claimed, 'a', 1, 3);
      await desk.retry(PIPELINE, { key: 'a' });
      expect(await store.released(fence, 10)).toEqual(['a']);
      for (const id of ['1', '2', '3']) {
        expect(await store.unpark(fence, 'a')).toBe(false);
        const head = await headOf(claimed, 'a');
        expect(head.event.id).toBe(id);
        expect(await store.handled(fence, [head])).toBe('stored');
        expect(await store.handled(fence, [head])).toBe('stored'); // said again
      }
      expect(await store.read(fence, 'a', 10)).toEqual([]);
      expect(await store.unpark(fence, 'a')).toBe(true);
      expect(await store.unpark(fence, 'a')).toBe(true);
      expect(await store.released(fence, 10)).toEqual([]);
      expect(await desk.counts(PIPELINE)).toEqual({ keys: 0, waiting: 0, skipped: 0 });
      expect(await store.unpark(fence, 'never parked')).toBe(true);
    });

    each(
      'several that were handled are noted at once, in whatever state they are by then',
      async (claimed) => {
        const { store, desk, fence } = claimed;
        await parked(claimed, 'a', 1, 6);
        await parked(claimed, 'b', 7, 7);
        const letters = await store.read(fence, 'a', 4);
        await desk.skipHead(PIPELINE, 'a');
        expect(await store.handled(fence, letters)).toBe('stored');
        expect(await store.handled(fence, letters)).toBe('stored');
        expect(await store.handled(fence, [])).toBe('stored');
        expect(await waiting(claimed, 'a')).toEqual(['5', '6']);
        expect(await desk.counts(PIPELINE)).toEqual({ keys: 2, waiting: 3, skipped: 0 });
      },
    );

    each('what comes meanwhile queues behind, and keeps the key released', async (claimed) => {
      const { store, desk, fence } = claimed;
      await parked(claimed, 'a', 1, 1);
      await desk.retry(PIPELINE, {});
      await store.park(fence, 'a', [letter(event('a', 2))], 'behind', ROOMY);
      await store.handled(fence, [await headOf(claimed, 'a')]);
      expect(await store.unpark(fence, 'a')).toBe(false);
      expect(await waiting(claimed, 'a')).toEqual(['2']);
      expect(await store.released(fence, 10)).toEqual(['a']);
    });

    each('one that fails again waits at the same place', async (claimed) => {
      const { store, desk, fence } = claimed;
      await parked(claimed, 'a', 1, 2);
      await desk.retry(PIPELINE, {});
      const head = await headOf(claimed, 'a');
      expect(await store.failed(fence, head, failure('still none', 6), null)).toBe('stored');
      expect(await store.released(fence, 10)).toEqual([]);
      expect(await waiting(claimed, 'a')).toEqual(['1', '2']);
      const again = await headOf(claimed, 'a');
      expect(again).toEqual({ ...head, failure: failure('still none', 6) });
      // Said again after somebody has released it, it takes that not back.
      await desk.retry(PIPELINE, {});
      expect(await store.failed(fence, head, failure('still none', 6), null)).toBe('stored');
      expect(await store.released(fence, 10)).toEqual(['a']);
      // The next failure does.
      expect(await store.failed(fence, again, failure('still none', 9), null)).toBe('stored');
      expect(await store.released(fence, 10)).toEqual([]);
    });

    each('one that fails again is released by its schedule', async (claimed) => {
      const { store, fence } = claimed;
      await parked(claimed, 'due', 1, 1);
      await parked(claimed, 'later', 2, 2);
      await store.failed(fence, await headOf(claimed, 'due'), failure('x', 4), '2026-01-01T00:00:00.5Z');
      await store.failed(fence, await headOf(claimed, 'later'), failure('x', 4), '2999-01-01T00:00:00Z');
      expect(await store.released(fence, 10)).toEqual(['due']);
      expect(await store.released(fence, 10)).toEqual(['due']);
    });

    each('tells no more keys than asked for', async (claimed) => {
      const { store, desk, fence } = claimed;
      for (let n = 1; n <= 5; n += 1) await parked(claimed, `k${String(n)}`, n, n);
      await desk.retry(PIPELINE, {});
      expect((await store.released(fence, 3)).length).toBe(3);
      expect((await store.released(fence, 10)).toSorted()).toEqual(['k1', 'k2', 'k3', 'k4', 'k5']);
    });

    each('a letter that an operator takes away while it runs', async (claimed) => {
      const { store, desk, fence } = claimed;
      await parked(claimed, 'a', 1, 4);
      const [one, two, three] = await store.read(fence, 'a', 3);
      if (one === undefined || two === undefined || three === undefined) expect.fail('three letters wait');
      await desk.skipHead(PIPELINE, 'a');
      expect(await store.handled(fence, [one])).toBe('stored'); // it was handled after all
      await desk.skipHead(PIPELINE, 'a');
      expect(await store.failed(fence, two, failure('late', 4), null)).toBe('stored'); // nobody waits for it
      expect(await store.released(fence, 10)).toEqual(['a']);
      await desk.discard(PIPELINE, 'a');
      expect(await store.handled(fence, [three])).toBe('stored');
      expect(await store.failed(fence, three, failure('late', 4), null)).toBe('stored');
      expect(await store.released(fence, 10)).toEqual(['a']);
      expect(await store.unpark(fence, 'a')).toBe(true);
      expect(await desk.counts(PIPELINE)).toEqual({ keys: 0, waiting: 0, skipped: 0 });
      const states = (await desk.list(PIPELINE, {}, { after: null, limit: 10 })).map(({ state }) => state);
      expect(states).toEqual(['handled', 'discarded', 'discarded', 'discarded']);
    });
  });

  describe('pruning', () => {
    each('forgets what was handled or discarded and is settled, oldest first', async (claimed) => {
      const { store, desk, fence } = claimed;
      await parked(claimed, 'a', 1, 4);
      await parked(claimed, 'b', 5, 6);
      await store.skip(fence, letter(event('c', 7), 'failed'), ROOMY);
      for (let n = 0; n < 3; n += 1) await store.handled(fence, [await headOf(claimed, 'a')]);
      await desk.discard(PIPELINE, 'b');
      const settled = (position: string): boolean => position !== 'p2';
      expect(await store.prune(fence, settled, 1)).toBe(1);
      const left = async (): Promise<string[]> =>
        ids(await desk.list(PIPELINE, {}, { after: null, limit: 10 }));
      expect(await left()).toEqual(['2', '3', '4', '5', '6', '7']);
      expect(await store.prune(fence, settled, 10)).toBe(3);
      expect(await left()).toEqual(['2', '4', '7']);
      expect(await store.prune(fence, settled, 10)).toBe(0);
      expect(await store.prune(fence, () => true, 10)).toBe(1);
      expect(await left()).toEqual(['4', '7']);
      // Settled is what the log does not deliver again; if it did, it would be stored.
      await store.park(fence, 'a', lettersOf('a', 1, 1), 'behind', ROOMY);
      expect(await waiting(claimed, 'a')).toEqual(['4', '1']);
    });

    each('asks of each position, however many there are', async (claimed) => {
      const { store, desk, fence } = claimed;
      await parked(claimed, 'a', 1, 2_500);
      await desk.discard(PIPELINE, 'a');
      const asked: string[] = [];
      const last = (position: string): boolean => {
        asked.push(position);
        return position === 'p2500';
      };
      expect(await store.prune(fence, last, 10)).toBe(1);
      expect(asked.length).toBe(2_500);
      expect(await store.prune(fence, () => true, 1_700)).toBe(1_700);
      expect(await store.prune(fence, () => true, 1_700)).toBe(799);
    });
  });

  describe('many letters', () => {
    each('20,000 of one key come out in their order, page by page', async (claimed) => {
      const { backend, store, desk, fence } = claimed;
      for (let n = 1; n <= 20_000; n += 500) await parked(claimed, 'hot', n, n + 499);
      const seen: string[] = [];
      for (let after: string | null = null; ;) {
        const page = await desk.list(PIPELINE, { key: 'hot' }, { after, limit: 1_000 });
        seen.push(...ids(page));
        const last = page.at(-1);
        if (last === undefined) break;
        after = last.id;
      }
      const all = Array.from({ length: 20_000 }, (_, i) => String(i + 1));
      expect(seen).toEqual(all);
      expect(ids(await store.read(fence, 'hot', 700))).toEqual(all.slice(0, 700));
      expect(await desk.counts(PIPELINE)).toEqual({ keys: 1, waiting: 20_000, skipped: 0 });
      await using successor = closing(backend.open());
      const answer = await successor.claim({ ...fence, epoch: 2 }, 'w0');
      expect(answer).toMatchObject({ keys: [{ key: 'hot', letters: 20_000, position: 'p1' }] });
      expect(await desk.discard(PIPELINE, 'hot')).toBe(20_000);
    });
  });
}
