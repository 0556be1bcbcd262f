import type { Offset } from '@strandline/core';
import { describe, expect } from 'vitest';
import { closing, next, oddNames, seed, thrown, type Each } from './offset-store-fixtures.js';

export function describeList(each: Each): void {
  describe('which pipelines there are', () => {
    each('none at first', async (_, store) => {
      expect(await store.list()).toEqual([]);
    });

    each('each with its offset, whatever its name', async (backend, store) => {
      const expected = new Map<string, Offset>();
      for (const [index, name] of [...Object.values(oddNames), 'shop', 'Shop', 'shop}'].entries()) {
        const offset = next(await store.claim(name, seed), { watermark: `0/${String(index)}:1` });
        await store.commit(name, offset);
        expected.set(name, offset);
      }
      await using reader = closing(backend.open());
      const listed = await reader.list();
      expect(new Map(listed.map(({ pipeline, offset }) => [pipeline, offset]))).toEqual(expected);
      expect(listed.length).toBe(expected.size);
    });

    each('also what an operator has put there, and not what was reset', async (_, store) => {
      const kept = await store.claim('kept', seed);
      await store.replace('kept', kept, { ...seed, watermark: '0/2:0', completed: [] });
      await store.replace('gone', await store.claim('gone', seed), null);
      await store.bookmarks.create('noted', {
        ...{ name: 'a', position: '0/1:0', identity: {}, committedAt: null },
        createdAt: '2026-01-02T03:04:05.678Z',
      });
      expect((await store.list()).map(({ pipeline }) => pipeline)).toEqual(['kept']);
      expect((await store.list())[0]?.offset.watermark).toBe('0/2:0');
    });

    each('and one that can not be read is not left out in silence', async (backend, store) => {
      for (const [name, damage] of Object.entries(backend.damages)) {
        // What only an owner's commit would stumble over can be read.
        const offset = await store.claim(name, seed);
        await damage(name);
        const read = await store.load(name).catch(thrown);
        const listed = await store.list().catch(thrown);
        if (read instanceof Error) expect(listed, name).toMatchObject({ code: 'OFFSETS_CORRUPT' });
        else expect(listed, name).toContainEqual({ pipeline: name, offset });
        await backend.lose(name);
      }
    });
  });
}
