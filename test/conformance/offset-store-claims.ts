import { expect, describe } from 'vitest';
import { closing, next, otherIdentity, run, seed, type Each } from './offset-store-fixtures.js';

export function describeClaims(each: Each): void {
  describe('load and claim', () => {
    each('has no offset of a pipeline that never ran', async (_, store) => {
      expect(await store.load('shop')).toBeNull();
    });

    each('creates the first offset from the seed', async (_, store) => {
      const claimed = await store.claim('shop', seed);
      expect(claimed).toEqual({ ...seed, completed: [], epoch: 1, revision: 0, savedAt: claimed.savedAt });
      expect(new Date(claimed.savedAt).toISOString()).toBe(claimed.savedAt);
      expect(await store.load('shop')).toEqual(claimed);
    });

    each(
      'raises the epoch and keeps what is settled; only the identity is replaced',
      async (backend, store) => {
        const first = await store.claim('shop', seed);
        const saved = next(first, { watermark: '0/2000:4', completed: [run('0/2000:6', '0/2000:9')] });
        await store.commit('shop', saved);
        await using successor = closing(backend.open());
        const second = await successor.claim('shop', { identity: otherIdentity, watermark: '0/FFFF:0' });
        expect(second).toEqual({ ...saved, epoch: 2, identity: otherIdentity });
        expect(await store.load('shop')).toEqual(second);
      },
    );

    each('gives each of many claims at once an epoch of its own', async (backend, store) => {
      const stores = [store, ...Array.from({ length: 4 }, () => backend.open())];
      const claims = [1, 2, 3, 4, 5].flatMap(() => stores.map((each) => each.claim('shop', seed)));
      const epochs = (await Promise.all(claims)).map(({ epoch }) => epoch);
      expect(new Set(epochs).size).toBe(25);
      expect((await store.load('shop'))?.epoch).toBe(Math.max(...epochs));
      await Promise.all(stores.map((each) => each.close()));
    });
  });
}
