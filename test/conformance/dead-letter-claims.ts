import { describe, expect } from 'vitest';
import {
  closing,
  event,
  failure,
  headOf,
  letter,
  lettersOf,
  parked,
  PIPELINE,
  ROOMY,
  waiting,
  type Each,
} from './dead-letter-fixtures.js';

const next = { pipeline: PIPELINE, epoch: 2 };

export function describeClaims(each: Each): void {
  describe('a claim', () => {
    each('of an empty table knows of nothing', async ({ backend }) => {
      await using other = closing(backend.open());
      expect(await other.claim({ pipeline: 'another', epoch: 7 }, 'w')).toEqual({
        keys: [],
        crashes: { unclean: false, inARow: 0, suspect: null },
      });
    });

    each('tells the keys that have letters waiting, and where the first one lies', async (claimed) => {
      const { backend, desk } = claimed;
      await parked(claimed, 'a', 1, 3);
      await parked(claimed, 'b', 4, 4);
      await parked(claimed, 'gone', 5, 5);
      await desk.retry(PIPELINE, { key: 'b' });
      await desk.discard(PIPELINE, 'gone');
      await using successor = closing(backend.open());
      const answer = await successor.claim(next, 'w0');
      const keys = answer === 'fenced' ? [] : answer.keys.toSorted((a, b) => (a.key < b.key ? -1 : 1));
      expect(keys).toEqual([
        { key: 'a', state: 'parked', letters: 3, position: 'p1' },
        { key: 'b', state: 'released', letters: 1, position: 'p4' },
      ]);
      expect(await successor.released(next, 10)).toEqual(['b']);
    });

    each('of an older epoch is refused', async ({ backend, store, fence }) => {
      await using successor = closing(backend.open());
      await successor.claim(next, 'w0');
      expect(await store.claim(fence, 'w0')).toBe('fenced');
    });

    each('keeps pipelines apart', async (claimed) => {
      const { backend, store, desk } = claimed;
      await parked(claimed, 'k', 1, 2);
      const others = ['Shop', 'shop ', `shop\0`, 'störung-🦀', 'x'.repeat(5_000)];
      for (const pipeline of others) {
        const fence = { pipeline, epoch: 9 };
        await using other = closing(backend.open());
        expect(await other.claim(fence, 'w')).toMatchObject({ keys: [] });
        expect(await other.read(fence, 'k', 10)).toEqual([]);
        expect(await other.park(fence, 'k', lettersOf('k', 1, 1), 'behind', ROOMY)).toBe('stored');
        expect(await desk.counts(pipeline)).toEqual({ keys: 1, waiting: 1, skipped: 0 });
      }
      expect(await waiting(claimed, 'k')).toEqual(['1', '2']);
      expect(await store.prune({ pipeline: PIPELINE, epoch: 1 }, () => true, 10)).toBe(0);
    });
  });

  describe('what an earlier owner has handled', () => {
    each(
      'waits again when the log brings it again: it is handled with what comes before it',
      async (claimed) => {
        const { backend, store, desk, fence } = claimed;
        await parked(claimed, 'a', 1, 4);
        expect(await store.handled(fence, (await store.read(fence, 'a', 10)).slice(0, 2))).toBe('stored');
        await desk.skipHead(PIPELINE, 'a');
        // To the owner who has handled them they stay what they are.
        await store.park(fence, 'a', lettersOf('a', 1, 3), 'behind', ROOMY);
        expect(await waiting(claimed, 'a')).toEqual(['4']);
        await using successor = closing(backend.open());
        await successor.claim(next, 'w0');
        const limits = { perKey: 4, inAll: 5 };
        expect(await successor.park(next, 'a', lettersOf('a', 1, 2), 'front', limits)).toBe('stored');
        expect(await successor.park(next, 'a', lettersOf('a', 3, 5), 'behind', limits)).toBe('stored');
        expect(await waiting({ ...claimed, store: successor, fence: next }, 'a')).toEqual([
          '1',
          '2',
          '4',
          '5',
        ]);
        expect(await desk.counts(PIPELINE)).toEqual({ keys: 1, waiting: 4, skipped: 1 });
        expect(await successor.park(next, 'a', lettersOf('a', 6, 6), 'behind', limits)).toBe('full');
      },
    );

    each('is skipped when it fails for that policy', async (claimed) => {
      const { backend, store, desk, fence } = claimed;
      await parked(claimed, 'a', 1, 1);
      await store.handled(fence, [await headOf(claimed, 'a')]);
      await using successor = closing(backend.open());
      await successor.claim(next, 'w0');
      expect(await successor.skip(next, letter(event('a', 1), 'failed'), ROOMY)).toBe('stored');
      expect(await desk.counts(PIPELINE)).toEqual({ keys: 0, waiting: 0, skipped: 1 });
    });
  });

  describe('a former owner', () => {
    each('writes nothing and reads nothing', async (claimed) => {
      const { backend, store, desk, fence } = claimed;
      await parked(claimed, 'k', 1, 2);
      const head = await headOf(claimed, 'k');
      await desk.retry(PIPELINE, { key: 'k' });
      await using successor = closing(backend.open());
      await successor.claim(next, 'w0');
      expect(await store.park(fence, 'k', lettersOf('k', 3, 3), 'behind', ROOMY)).toBe('fenced');
      expect(await store.skip(fence, letter(event('s', 4), 'failed'), ROOMY)).toBe('fenced');
      expect(await store.handled(fence, [head])).toBe('fenced');
      expect(await store.failed(fence, head, failure('again', 6), null)).toBe('fenced');
      expect(await store.unpark(fence, 'k')).toBe('fenced');
      expect(await store.suspect(fence, 'x')).toBe('fenced');
      expect(await store.prune(fence, () => true, 10)).toBe(0);
      expect(await store.read(fence, 'k', 10)).toEqual([]);
      expect(await store.released(fence, 10)).toEqual([]);
      await store.release(fence);
      const own = { ...claimed, store: successor, fence: next };
      expect(await waiting(own, 'k')).toEqual(['1', '2']);
      expect((await headOf(own, 'k')).failure).toEqual(failure('no stock'));
      expect(await successor.released(next, 10)).toEqual(['k']);
      expect(await desk.counts(PIPELINE)).toEqual({ keys: 1, waiting: 2, skipped: 0 });
      expect(await successor.claim({ ...next, epoch: 3 }, 'w0')).toMatchObject({
        crashes: { unclean: true },
      });
    });
  });

  describe('the record of crashes', () => {
    each('counts owners that have not stopped in order at the same watermark', async ({ store }) => {
      const claim = async (epoch: number, watermark: string): Promise<unknown> => {
        const answer = await store.claim({ pipeline: PIPELINE, epoch }, watermark);
        return answer === 'fenced' ? answer : answer.crashes;
      };
      const told = (inARow: number): unknown => ({ unclean: inARow > 0, inARow, suspect: null });
      expect(await claim(2, 'w0')).toEqual(told(1));
      expect(await claim(3, 'w0')).toEqual(told(2));
      expect(await claim(3, 'w0')).toEqual(told(2)); // said again
      expect(await claim(4, 'w1')).toEqual(told(1));
      expect(await claim(5, 'w1')).toEqual(told(2));
      await store.release({ pipeline: PIPELINE, epoch: 5 });
      await store.release({ pipeline: PIPELINE, epoch: 5 });
      expect(await claim(6, 'w1')).toEqual(told(0));
      expect(await claim(7, 'w1')).toEqual(told(1));
    });

    each('has what was run alone when the process ended', async ({ store, fence }) => {
      const claim = async (epoch: number): Promise<unknown> => {
        const answer = await store.claim({ pipeline: PIPELINE, epoch }, 'w0');
        return answer === 'fenced' ? answer : answer.crashes.suspect;
      };
      const identity = 'störung\0 \ud83e [1]';
      expect(await store.suspect(fence, 'other')).toBe('stored');
      expect(await store.suspect(fence, identity)).toBe('stored');
      expect(await claim(2)).toBe(identity);
      expect(await store.suspect({ ...fence, epoch: 2 }, 'later')).toBe('stored');
      expect(await store.suspect({ ...fence, epoch: 2 }, null)).toBe('stored');
      expect(await claim(2)).toBe(identity); // said again
      expect(await claim(3)).toBeNull();
      expect(await store.suspect({ ...fence, epoch: 3 }, identity)).toBe('stored');
      await store.release({ ...fence, epoch: 3 });
      expect(await claim(4)).toBeNull();
    });
  });
}
