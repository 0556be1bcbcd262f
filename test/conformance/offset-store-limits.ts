import { StrandlineError } from '@strandline/core';
import { describe, expect, it } from 'vitest';
import { closing, next, seed, thrown, type Each, type SetUp } from './offset-store-fixtures.js';

export function describeLimits(each: Each, setUp: SetUp): void {
  describe('what can not be', () => {
    for (const name of ['', 'half a \ud83e pair']) {
      each(`refuses the name ${JSON.stringify(name)}`, async (_, store) => {
        await expect(store.load(name).catch(thrown)).resolves.toMatchObject({ code: 'OFFSETS_CONFIG' });
        await expect(store.claim(name, seed).catch(thrown)).resolves.toMatchObject({
          code: 'OFFSETS_CONFIG',
        });
      });
    }

    it('reports damage with a remedy, and does not touch it', async () => {
      await using backend = await setUp();
      await using store = closing(backend.open());
      for (const [what, damage] of Object.entries(backend.damages)) {
        const claimed = await store.claim(what, seed);
        await store.commit(what, next(claimed, {}));
        await damage(what);
        for (const attempt of [
          () => store.load(what),
          () => store.commit(what, { ...claimed, revision: 2 }),
          () => store.load(what), // the commit has not written over it
        ]) {
          const error = await attempt().then(() => expect.fail(`${what}: read without an error`), thrown);
          expect(error, what).toBeInstanceOf(StrandlineError);
          expect(error, what).toMatchObject({ code: 'OFFSETS_CORRUPT' });
          expect((error as StrandlineError).remedy).not.toBe('');
        }
        await expect(store.claim(what, seed).catch(thrown), what).resolves.toMatchObject({
          code: 'OFFSETS_CORRUPT',
        });
      }
    });

    each('closes twice, and not while others use the same data', async (backend, store) => {
      const claimed = await store.claim('shop', seed);
      const other = backend.open();
      await other.load('shop');
      await Promise.all([other.close(), other.close()]);
      await other.close();
      for (const late of [other.load('shop'), other.claim('shop', seed), other.commit('shop', claimed)]) {
        await expect(late.catch(thrown)).resolves.toMatchObject({ code: 'OFFSETS_CLOSED' });
      }
      expect(await store.commit('shop', next(claimed, {}))).toBe('saved');
    });

    it('closes before it was ever used', async () => {
      await using backend = await setUp();
      await backend.open().close();
    });

    each('has a name without line ends and credentials', (_, store) => {
      expect(store.name).toMatch(/^[^\s@]+$/);
    });
  });
}
