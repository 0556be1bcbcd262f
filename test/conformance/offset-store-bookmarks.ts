import type { Bookmark } from '@strandline/core';
import { describe, expect } from 'vitest';
import { closing, next, oddNames, otherIdentity, seed, thrown, type Each } from './offset-store-fixtures.js';

function bookmark(name: string, position = '0/1000:0'): Bookmark {
  return {
    name,
    position,
    identity: otherIdentity,
    committedAt: null,
    createdAt: '2026-01-02T03:04:05.678Z',
  };
}

export function describeBookmarks(each: Each): void {
  describe('bookmarks', () => {
    each('are there once they are created, for every process', async (backend, store) => {
      const { bookmarks } = store;
      expect(await bookmarks.list('shop')).toEqual([]);
      expect(await bookmarks.get('shop', 'before-deploy')).toBeNull();
      const made = { ...bookmark('before-deploy'), committedAt: '2026-01-01T00:00:00.000Z' };
      expect(await bookmarks.create('shop', made)).toBe('created');
      await using other = closing(backend.open());
      expect(await other.bookmarks.get('shop', 'before-deploy')).toEqual(made);
      expect(await other.bookmarks.list('shop')).toEqual([made]);
    });

    each('are not overwritten, whoever is first', async (backend, store) => {
      const stores = [store, ...Array.from({ length: 4 }, () => backend.open())];
      const results = await Promise.all(
        stores.map(({ bookmarks }, n) => bookmarks.create('shop', bookmark('once', `0/${String(n)}:0`))),
      );
      expect(results.filter((result) => result === 'created')).toHaveLength(1);
      const position = `0/${String(results.indexOf('created'))}:0`;
      expect(await store.bookmarks.get('shop', 'once')).toEqual(bookmark('once', position));
      await Promise.all(stores.map((one) => one.close()));
    });

    each('are listed by name', async (_, { bookmarks }) => {
      const names = ['b', 'a.10', 'B', 'a', 'a-1', '__proto__', '0', '9', '10', '.', '..', 'constructor'];
      for (const name of names) expect(await bookmarks.create('shop', bookmark(name))).toBe('created');
      const listed = await bookmarks.list('shop');
      expect(listed.map(({ name }) => name)).toEqual(names.toSorted());
      for (const name of names) expect(await bookmarks.get('shop', name)).toEqual(bookmark(name));
    });

    each('can be deleted, once, and made again', async (_, { bookmarks }) => {
      await bookmarks.create('shop', bookmark('a'));
      await bookmarks.create('shop', bookmark('b'));
      expect(await bookmarks.delete('shop', 'a')).toBe(true);
      expect(await bookmarks.delete('shop', 'a')).toBe(false);
      expect(await bookmarks.delete('other', 'b')).toBe(false);
      expect(await bookmarks.list('shop')).toEqual([bookmark('b')]);
      expect(await bookmarks.create('shop', bookmark('a', '0/2000:0'))).toBe('created');
      expect((await bookmarks.get('shop', 'a'))?.position).toBe('0/2000:0');
    });

    each('do not touch the offset, nor it them', async (_, store) => {
      await store.bookmarks.create('shop', bookmark('a'));
      expect(await store.load('shop')).toBeNull();
      const offset = next(await store.claim('shop', seed), {});
      expect(offset.epoch).toBe(1);
      expect(await store.commit('shop', offset)).toBe('saved');
      await store.replace('shop', offset, null);
      expect(await store.bookmarks.list('shop')).toEqual([bookmark('a')]);
    });

    each('keep pipelines and names apart, however they are called', async (_, { bookmarks }) => {
      const longest = ['A'.repeat(100), 'a'.repeat(100), `${'A'.repeat(99)}.`];
      const pipelines = [...Object.values(oddNames), 'shop', 'Shop', 'shop:bookmarks'];
      for (const pipeline of pipelines)
        for (const name of longest)
          expect(await bookmarks.create(pipeline, bookmark(name, pipeline))).toBe('created');
      for (const pipeline of pipelines) {
        const listed = await bookmarks.list(pipeline);
        expect(listed).toEqual(longest.toSorted().map((name) => bookmark(name, pipeline)));
      }
    });

    each('of a name that can not be are refused', async (_, { bookmarks }) => {
      for (const name of ['', 'half a \ud83e pair'])
        for (const attempt of [
          bookmarks.list(name),
          bookmarks.get(name, 'a'),
          bookmarks.create(name, bookmark('a')),
        ])
          await expect(attempt.catch(thrown)).resolves.toMatchObject({ code: 'OFFSETS_CONFIG' });
    });
  });
}
