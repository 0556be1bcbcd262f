import { expect, describe } from 'vitest';
import { closing, next, otherIdentity, run, seed, type Each } from './offset-store-fixtures.js';

export function describeCommits(each: Each): void {
  describe('commit', () => {
    each('is saved when the epoch is the same and the revision is newer', async (_, store) => {
      let offset = await store.claim('shop', seed);
      for (const watermark of ['0/1001:0', '0/1002:7', '0/1003:1']) {
        offset = next(offset, { watermark });
        expect(await store.commit('shop', offset)).toBe('saved');
        expect(await store.load('shop')).toEqual(offset);
      }
    });

    each('is saved when revisions were left out, as after commits that failed', async (_, store) => {
      const claimed = await store.claim('shop', seed);
      const later = { ...claimed, revision: 40, watermark: '0/1004:0' };
      expect(await store.commit('shop', later)).toBe('saved');
      expect(await store.load('shop')).toEqual(later);
    });

    each(
      'is stale when its revision is held already, or is older: a late commit changes nothing',
      async (_, store) => {
        const claimed = await store.claim('shop', seed);
        const held = { ...claimed, revision: 9, watermark: '0/9000:0' };
        await store.commit('shop', held);
        for (const revision of [9, 8, 1, 0]) {
          expect(await store.commit('shop', { ...claimed, revision, watermark: '0/1000:1' })).toBe('stale');
        }
        expect(await store.load('shop')).toEqual(held);
      },
    );

    each('compares revisions as numbers', async (_, store) => {
      const claimed = await store.claim('shop', seed);
      expect(await store.commit('shop', { ...claimed, revision: 9 })).toBe('saved');
      expect(await store.commit('shop', { ...claimed, revision: 10 })).toBe('saved');
      expect(await store.commit('shop', { ...claimed, revision: 9 })).toBe('stale');
      expect(await store.commit('shop', { ...claimed, revision: 1e15 + 1 })).toBe('saved');
      expect(await store.commit('shop', { ...claimed, revision: 1e15 })).toBe('stale');
    });

    each('fences a former owner, whatever its revision, and changes nothing', async (backend, store) => {
      const former = await store.claim('shop', seed);
      await using successor = closing(backend.open());
      const owner = next(await successor.claim('shop', seed), { watermark: '0/5000:0' });
      expect(await successor.commit('shop', owner)).toBe('saved');
      for (const revision of [1, 2, 1_000_000]) {
        expect(await store.commit('shop', { ...former, revision, watermark: '0/6000:0' })).toBe('fenced');
      }
      expect(await successor.load('shop')).toEqual(owner);
      expect(await successor.commit('shop', next(owner, { watermark: '0/6000:0' }))).toBe('saved');
    });

    each('fences a former owner before its successor has saved anything', async (backend, store) => {
      const former = await store.claim('shop', seed);
      await using successor = closing(backend.open());
      const claimed = await successor.claim('shop', seed);
      expect(await store.commit('shop', next(former, { watermark: '0/6000:0' }))).toBe('fenced');
      expect(await successor.load('shop')).toEqual(claimed);
    });

    each('fences nobody after the owner itself has claimed again', async (_, store) => {
      await store.claim('shop', seed);
      const again = await store.claim('shop', seed);
      expect(again.epoch).toBe(2);
      expect(await store.commit('shop', next(again, {}))).toBe('saved');
    });

    each('restores the whole offset into a store that has lost it', async (backend, store) => {
      const claimed = await store.claim('shop', seed);
      const held = next(claimed, { watermark: '0/3000:0', completed: [run('0/3000:5')] });
      await store.commit('shop', held);
      await backend.lose('shop');
      expect(await store.load('shop')).toBeNull();
      const later = next(held, { watermark: '0/3000:5', completed: [] });
      expect(await store.commit('shop', later)).toBe('restored');
      expect(await store.load('shop')).toEqual(later);
      expect(await store.commit('shop', next(later, {}))).toBe('saved');
    });

    each('restores over an older epoch, as after a failover that lost the claim', async (_, store) => {
      const claimed = await store.claim('shop', seed);
      const older = { ...claimed, revision: 70, watermark: '0/1100:0' };
      await store.commit('shop', older);
      const mine = { ...claimed, epoch: 4, revision: 3, watermark: '0/4000:0', identity: otherIdentity };
      expect(await store.commit('shop', mine)).toBe('restored');
      expect(await store.load('shop')).toEqual(mine);
      expect(await store.commit('shop', { ...older, revision: 71 })).toBe('fenced');
      expect((await store.claim('shop', seed)).epoch).toBe(5);
    });

    each('compares epochs as numbers', async (_, store) => {
      const claimed = await store.claim('shop', seed);
      for (const epoch of [9, 10, 100, 1e15 + 1]) {
        expect(await store.commit('shop', { ...claimed, epoch, revision: 1 })).toBe('restored');
        expect(await store.commit('shop', { ...claimed, epoch: epoch - 1, revision: 2 })).toBe('fenced');
      }
      expect((await store.claim('shop', seed)).epoch).toBe(1e15 + 2);
    });

    each('takes the newest of commits that are under way at once', async (_, store) => {
      const claimed = await store.claim('shop', seed);
      const revisions = [3, 1, 7, 2, 6, 5, 4];
      const results = await Promise.all(
        revisions.map((revision) => store.commit('shop', { ...claimed, revision })),
      );
      expect(results).not.toContain('fenced');
      expect(results[2]).toBe('saved');
      expect((await store.load('shop'))?.revision).toBe(7);
    });
  });
}
