import { NO_CONTROLS, StrandlineError, type Bookmark, type InstanceReport } from '@strandline/core';
import { describe, expect, it } from 'vitest';
import { expectExplained } from './findings.js';
import { closing, next, seed, thrown, type Each, type SetUp } from './offset-store-fixtures.js';

const bookmark: Bookmark = {
  ...{ name: 'a', position: '0/1000:0', identity: {} },
  ...{ committedAt: null, createdAt: '2026-01-02T03:04:05.678Z' },
};

const report: InstanceReport = {
  ...{ id: 'one', host: 'shop-1', pid: 4_711, state: 'running', epoch: 1, details: null },
  ...{ startedAt: '2026-01-02T03:04:05.678Z', reportedAt: '2026-01-02T03:04:05.678Z' },
};

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

    it('reports damage of what is beside the offset, which goes on', async () => {
      await using backend = await setUp();
      const { damageBeside } = backend;
      if (damageBeside === undefined) return;
      await using store = closing(backend.open());
      const { bookmarks, instances, controls } = store;
      for (const [n, text] of ['', 'x', '[1, 2]', 'null', '{"format": 2}', '{"format": 1}'].entries()) {
        const name = `shop-${String(n)}`;
        const claimed = await store.claim(name, seed);
        await store.replace(name, claimed, claimed);
        const held = await store.claim(name, seed);
        await bookmarks.create(name, bookmark);
        await instances.report(name, report, 600_000);
        await controls.change(name, NO_CONTROLS, { paused: null, held: [] });
        await damageBeside(name, text);
        for (const attempt of [
          () => store.replaced(name),
          () => bookmarks.list(name),
          () => bookmarks.get(name, bookmark.name),
          () => instances.list(name),
          () => controls.load(name),
          () => controls.newer(name, 0),
        ]) {
          const error = await attempt().then(() => expect.fail(`${text}: read without an error`), thrown);
          expect(error, text).toMatchObject({ code: 'OFFSETS_CORRUPT' });
          expect((error as StrandlineError).remedy).not.toBe('');
        }
        expect(await bookmarks.create(name, bookmark)).toBe('exists');
        expect(await bookmarks.delete(name, bookmark.name)).toBe(true);
        expect(await bookmarks.create(name, bookmark)).toBe('created');
        // A process that is there says it again.
        await instances.report(name, { ...report, id: 'another' }, 600_000);
        expect(await instances.list(name)).toEqual([{ ...report, id: 'another' }]);
        expect(await store.commit(name, next(held, {}))).toBe('saved');
      }
    });

    each('closes twice, and not while others use the same data', async (backend, store) => {
      const claimed = await store.claim('shop', seed);
      const other = backend.open();
      await other.load('shop');
      await Promise.all([other.close(), other.close()]);
      await other.close();
      for (const late of [
        ...[other.load('shop'), other.claim('shop', seed), other.commit('shop', claimed)],
        ...[other.replace('shop', claimed, null), other.replaced('shop')],
        ...[other.bookmarks.list('shop'), other.bookmarks.create('shop', bookmark)],
        ...[other.instances.list('shop'), other.instances.report('shop', report, 1_000)],
      ]) {
        await expect(late.catch(thrown)).resolves.toMatchObject({ code: 'OFFSETS_CLOSED' });
      }
      expect(await store.commit('shop', next(claimed, {}))).toBe('saved');
    });

    it('closes before it was ever used', async () => {
      await using backend = await setUp();
      await backend.open().close();
    });

    each('looks at its server, if it has one, and touches nothing', async (_, store) => {
      const saved = await store.claim('shop', seed);
      for (const finding of (await store.diagnose?.()) ?? []) expectExplained(finding);
      expect(await store.load('shop')).toEqual(saved);
      expect(await store.commit('shop', next(saved, {}))).toBe('saved');
    });

    each('has a name without line ends and credentials', (_, store) => {
      expect(store.name).toMatch(/^[^\s@]+$/);
    });
  });
}
