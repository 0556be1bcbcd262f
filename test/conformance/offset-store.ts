import {
  StrandlineError,
  type Offset,
  type OffsetSeed,
  type OffsetStore,
  type PositionRange,
} from '@strandline/core';
import { describe, expect, it } from 'vitest';

/** One kind of store with what it stands on, for one test. */
export interface OffsetStoreBackend extends AsyncDisposable {
  /** A store over the same data, as another process would open it. */
  open(): OffsetStore;
  /** Forgets a pipeline, as a failover or an eviction does. */
  lose(pipeline: string): Promise<void>;
  /** Each way in which what is held of a pipeline can be damaged. */
  readonly damages: Readonly<Record<string, (pipeline: string) => Promise<void>>>;
}

const seed: OffsetSeed = { identity: { system: '7301', slot: 'shop' }, watermark: '0/1000:0' };
const otherIdentity = { system: '7301', slot: 'shop', timeline: '2' };

const oddNames = {
  unicode: 'störungs-πίναξ-注文-🦀',
  'composed and decomposed': 'caf\u00e9 cafe\u0301',
  braces: '{a}b{c}}{',
  'only braces': '}{',
  'slashes and dots': '../../etc/./passwd',
  'a dot': '.',
  'spaces, quotes and controls': ' \'"`\n\t\0\\ ',
  'percent signs': '%7B%%20',
  'glob characters': '*?[a-z]',
  'very long': 'shop/'.repeat(2_000),
} as const;

/** The suite that every `OffsetStore` passes. */
export function describeOffsetStore(kind: string, setUp: () => Promise<OffsetStoreBackend>): void {
  const each = (
    name: string,
    run: (backend: OffsetStoreBackend, store: OffsetStore) => Promise<void> | void,
  ): void => {
    it(name, async () => {
      await using backend = await setUp();
      await using store = closing(backend.open());
      await run(backend, store);
    });
  };

  describe(`${kind} as an offset store`, () => {
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

    describe('what is kept', () => {
      each('returns thousands of completed ranges as they were', async (_, store) => {
        const completed = Array.from({ length: 5_000 }, (_, index) =>
          index % 3 === 0
            ? run(`0/${index.toString(16)}:0`, `0/${index.toString(16)}:7`)
            : run(`0/${index.toString(16)}:1`),
        );
        const offset = next(await store.claim('shop', seed), { completed });
        expect(await store.commit('shop', offset)).toBe('saved');
        expect(await store.load('shop')).toEqual(offset);
        expect((await store.claim('shop', seed)).completed).toEqual(completed);
      });

      each('returns any text as it was', async (_, store) => {
        const texts = {
          quotes: '"\'\\',
          'line ends': '\r\n\u2028',
          unicode: '注文🦀\u0000',
          empty: '',
          number: '007',
        };
        const offset = next(await store.claim('shop', { identity: texts, watermark: texts.quotes }), {
          watermark: texts.unicode,
          completed: [run(texts.quotes, texts['line ends']), run(texts.empty), run(texts.number)],
        });
        expect(await store.commit('shop', offset)).toBe('saved');
        expect(await store.load('shop')).toEqual(offset);
      });

      each('keeps pipelines apart', async (_, store) => {
        const names = ['shop', 'Shop', 'shop2', 'shop}', 'shop:offset', 'shop/1'];
        for (const [index, name] of names.entries()) {
          const claimed = await store.claim(name, { ...seed, watermark: `0/${String(index)}:0` });
          expect(claimed).toMatchObject({ epoch: 1, watermark: `0/${String(index)}:0` });
        }
        await store.claim('shop', seed);
        for (const [index, name] of names.entries()) {
          expect(await store.load(name)).toMatchObject({
            epoch: name === 'shop' ? 2 : 1,
            watermark: `0/${String(index)}:0`,
          });
        }
      });

      for (const [what, name] of Object.entries(oddNames)) {
        each(`takes a name with ${what}`, async (backend, store) => {
          const offset = next(await store.claim(name, seed), { watermark: '0/1234:5' });
          expect(await store.commit(name, offset)).toBe('saved');
          await using reader = closing(backend.open());
          expect(await reader.load(name)).toEqual(offset);
          expect(await reader.load(`${name}x`)).toBeNull();
          expect(await reader.load(`x${name}`)).toBeNull();
        });
      }
    });

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
  });
}

function run(first: string, last = first): PositionRange {
  return { first, last };
}

function next(offset: Offset, change: Partial<Offset>): Offset {
  return { ...offset, revision: offset.revision + 1, savedAt: '2026-01-02T03:04:05.678Z', ...change };
}

/** What a promise was rejected with, to look at all of it. */
function thrown(error: unknown): unknown {
  return error;
}

function closing<T extends OffsetStore>(store: T): T & AsyncDisposable {
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}
