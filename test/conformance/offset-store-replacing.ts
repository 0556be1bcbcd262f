import type { OffsetChange } from '@strandline/core';
import { describe, expect } from 'vitest';
import { closing, next, otherIdentity, run, seed, type Each } from './offset-store-fixtures.js';

const change: OffsetChange = {
  identity: otherIdentity,
  watermark: '0/0800:0',
  completed: [run('0/0900:1', '0/0900:4'), run('0/0A00:1')],
};

export function describeReplacing(each: Each): void {
  describe('replace', () => {
    each(
      'puts what was decided in place of what was read, for the next owner to begin with',
      async (_, store) => {
        const held = next(await store.claim('shop', seed), { watermark: '0/2000:0' });
        await store.commit('shop', held);
        expect(await store.replace('shop', held, change)).toBe('replaced');
        const there = await store.load('shop');
        expect(there).toMatchObject(change);
        expect(there?.epoch).toBeGreaterThan(held.epoch);
        const claimed = await store.claim('shop', { identity: seed.identity, watermark: '0/FFFF:0' });
        expect(claimed).toMatchObject({ ...change, identity: seed.identity });
        expect(claimed.epoch).toBeGreaterThan(there?.epoch ?? Infinity);
        expect(await store.commit('shop', next(claimed, {}))).toBe('saved');
      },
    );

    each('is refused when the offset has moved since, and changes nothing', async (_, store) => {
      const read = await store.claim('shop', seed);
      const moved = next(read, { watermark: '0/2000:0' });
      expect(await store.replace('shop', null, change)).toBe('changed');
      await store.commit('shop', moved);
      for (const by of [change, null]) expect(await store.replace('shop', read, by)).toBe('changed');
      expect(await store.replaced('shop')).toBeNull();
      expect(await store.load('shop')).toEqual(moved);
      expect(await store.commit('shop', next(moved, {}))).toBe('saved');
    });

    each('is refused when another process has claimed, lost or replaced it since', async (backend, store) => {
      await using other = closing(backend.open());
      const read = await store.claim('shop', seed);
      const claimed = await other.claim('shop', seed);
      expect(await store.replace('shop', read, change)).toBe('changed');
      expect(await other.replace('shop', claimed, null)).toBe('replaced');
      expect(await store.replace('shop', claimed, change)).toBe('changed');
      expect(await store.replace('shop', null, change)).toBe('replaced');
      await backend.lose('shop');
      await other.claim('shop', { ...seed, watermark: '0/1001:0' });
      expect(await store.replace('shop', read, change)).toBe('changed');
      expect(await store.load('shop')).toMatchObject({ epoch: 1, watermark: '0/1001:0' });
    });

    each('lets one of several that have read the same do it', async (backend, store) => {
      const read = await store.claim('shop', seed);
      const stores = [store, ...Array.from({ length: 4 }, () => backend.open())];
      const results = await Promise.all(
        stores.map((one, n) => one.replace('shop', read, { ...change, watermark: `0/${String(n)}:0` })),
      );
      expect(results.filter((result) => result === 'replaced')).toHaveLength(1);
      const watermark = `0/${String(results.indexOf('replaced'))}:0`;
      expect(await store.load('shop')).toMatchObject({ watermark });
      await Promise.all(stores.map((one) => one.close()));
    });

    each('fences the running owner, and whoever has not claimed since', async (backend, store) => {
      const owner = await store.claim('shop', seed);
      await using operator = closing(backend.open());
      expect(await operator.replace('shop', owner, change)).toBe('replaced');
      const there = await operator.load('shop');
      // A failover of the store may have lost a claim: also an epoch that it never heard of is a former owner's.
      for (const epoch of [owner.epoch, owner.epoch + 1, owner.epoch + 4])
        expect(await store.commit('shop', { ...owner, epoch, revision: 9 })).toBe('fenced');
      expect(await operator.load('shop')).toMatchObject(change);
      expect((await operator.load('shop'))?.savedAt).toBe(there?.savedAt);
      const claimed = await operator.claim('shop', seed);
      expect(claimed.epoch).toBeGreaterThan(owner.epoch + 4);
      expect(await store.commit('shop', { ...owner, epoch: owner.epoch + 4, revision: 99 })).toBe('fenced');
      expect(await operator.commit('shop', next(claimed, {}))).toBe('saved');
    });

    each(
      'by nothing makes it a pipeline that never ran, whose epoch goes on growing',
      async (backend, store) => {
        const owner = next(await store.claim('shop', seed), { watermark: '0/2000:0' });
        await store.commit('shop', owner);
        await using operator = closing(backend.open());
        expect(await operator.replace('shop', owner, null)).toBe('replaced');
        expect(await store.load('shop')).toBeNull();
        for (const epoch of [owner.epoch, owner.epoch + 1, owner.epoch + 4])
          expect(await store.commit('shop', { ...owner, epoch, revision: 9 })).toBe('fenced');
        expect(await store.load('shop')).toBeNull();
        const first = await store.claim('shop', { identity: otherIdentity, watermark: '0/3000:0' });
        expect(first).toMatchObject({
          identity: otherIdentity,
          watermark: '0/3000:0',
          completed: [],
          revision: 0,
        });
        expect(first.epoch).toBeGreaterThan(owner.epoch + 4);
        expect(await store.commit('shop', { ...owner, epoch: owner.epoch + 4, revision: 99 })).toBe('fenced');
        expect(await store.commit('shop', next(first, {}))).toBe('saved');
        expect(await store.load('shop')).toEqual(next(first, {}));
      },
    );

    each('puts an offset where there is none', async (_, store) => {
      expect(await store.replace('shop', null, change)).toBe('replaced');
      expect(await store.load('shop')).toMatchObject(change);
      expect(await store.claim('shop', seed)).toMatchObject({ ...change, identity: seed.identity });
    });

    each('remembers what it has replaced, to put it back, and that again', async (backend, store) => {
      expect(await store.replaced('shop')).toBeNull();
      const held = next(await store.claim('shop', seed), {
        completed: [run('0/2000:1'), run('0/2100:1', '0/2100:3')],
      });
      await store.commit('shop', held);
      const { identity, watermark, completed } = held;
      const before = { identity, watermark, completed };
      for (const by of [change, null]) {
        await using operator = closing(backend.open());
        const read = await operator.load('shop');
        expect(await operator.replace('shop', read, by)).toBe('replaced');
        const replaced = await store.replaced('shop');
        expect(replaced?.offset).toEqual(before);
        expect(new Date(replaced?.replacedAt ?? '').toISOString()).toBe(replaced?.replacedAt);
        const now = await operator.load('shop');
        expect(await operator.replace('shop', now, replaced?.offset ?? null)).toBe('replaced');
        expect(await store.load('shop')).toMatchObject(before);
        expect((await store.replaced('shop'))?.offset).toEqual(by);
      }
      // Owners come and go.
      await store.commit('shop', next(await store.claim('shop', seed), {}));
      expect((await store.replaced('shop'))?.offset).toBeNull();
    });

    each('returns any text, and thousands of runs, as they were', async (_, store) => {
      const identity = { quotes: '"\'\\', unicode: '注文🦀\u0000', empty: '' };
      const completed = Array.from({ length: 5_000 }, (_, index) => run(`${String(index)}\r\n`));
      expect(await store.replace('shop', null, { identity, watermark: '', completed })).toBe('replaced');
      const there = await store.load('shop');
      expect(there).toMatchObject({ identity, watermark: '', completed });
      expect(await store.replace('shop', there, null)).toBe('replaced');
      expect((await store.replaced('shop'))?.offset).toEqual({ identity, watermark: '', completed });
    });
  });
}
