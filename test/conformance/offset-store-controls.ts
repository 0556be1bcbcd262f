import { NO_CONTROLS, type Controls, type HeldKey, type Order } from '@strandline/core';
import { describe, expect } from 'vitest';
import { closing, next, oddNames, seed, thrown, type Each } from './offset-store-fixtures.js';

const order: Order = { by: 'ann@shop-1', at: '2026-01-02T03:04:05.678Z', note: 'the bank has called' };

function hold(...keys: readonly string[]): readonly HeldKey[] {
  return keys.map((key) => ({ key, ...order }));
}

export function describeControls(each: Each): void {
  describe('controls', () => {
    each(
      'are none to begin with, and then what was ordered last, for every process',
      async (backend, store) => {
        const { controls } = store;
        expect(await controls.load('shop')).toEqual(NO_CONTROLS);
        expect(await controls.newer('shop', 0)).toBeNull();
        const first = await controls.change('shop', NO_CONTROLS, { paused: order, held: [] });
        expect(first).toEqual({ revision: 1, paused: order, held: [] });
        const second = await controls.change('shop', first ?? NO_CONTROLS, {
          paused: null,
          held: hold('42', '注文🦀'),
        });
        expect(second).toEqual({ revision: 2, paused: null, held: hold('42', '注文🦀') });
        await using other = closing(backend.open());
        expect(await other.controls.load('shop')).toEqual(second);
        expect(await other.controls.newer('shop', 1)).toEqual(second);
        expect(await other.controls.newer('shop', 2)).toBeNull();
        // Whoever knows more than the store has is told so: it has lost something.
        expect(await other.controls.newer('shop', 7)).toEqual(second);
      },
    );

    each('are not written over by who has read older ones, whoever is first', async (backend, store) => {
      const stores = [store, ...Array.from({ length: 4 }, () => backend.open())];
      let read = NO_CONTROLS;
      for (let round = 0; round < 5; round += 1) {
        const known = read;
        const results = await Promise.all(
          stores.map(({ controls }, n) =>
            controls.change('shop', known, { paused: null, held: hold(`${String(round)}-${String(n)}`) }),
          ),
        );
        const done = results.filter((result) => result !== null);
        // A file store may tell the one who was first that it was not: it looks, and finds what it wanted.
        expect(done.length).toBeLessThanOrEqual(1);
        read = await store.controls.load('shop');
        expect(read.revision).toBe(round + 1);
        if (done[0] !== undefined) expect(read).toEqual(done[0]);
        expect(await store.controls.change('shop', known, { paused: order, held: [] })).toBeNull();
      }
      await Promise.all(stores.map((one) => one.close()));
    });

    each('lose nothing when many processes add to them at once', async (backend, store) => {
      const stores = [store, ...Array.from({ length: 3 }, () => backend.open())];
      await Promise.all(
        stores.map(async ({ controls }, n) => {
          for (let i = 0; i < 5; i += 1) {
            const key = `${String(n)}-${String(i)}`;
            for (let done: Controls | null = null; done === null;) {
              const read = await controls.load('shop');
              if (read.held.some((one) => one.key === key)) break;
              done = await controls.change('shop', read, {
                paused: null,
                held: [...read.held, ...hold(key)],
              });
            }
          }
        }),
      );
      const { held } = await store.controls.load('shop');
      expect(new Set(held.map(({ key }) => key)).size).toBe(4 * 5);
      await Promise.all(stores.map((one) => one.close()));
    });

    each('hold ten thousand keys, and any text', async (_, { controls }) => {
      const texts = { by: '\'"\\', at: order.at, note: '\r\n\u2028\u0000 注文🦀' };
      const keys = Array.from({ length: 10_000 }, (__, n) => ({ key: `key ${String(n)}`, ...order }));
      const held = [{ key: '', ...texts }, { key: '__proto__', ...texts }, ...keys];
      const done = await controls.change('shop', NO_CONTROLS, { paused: texts, held });
      expect(done).toEqual({ revision: 1, paused: texts, held });
      expect(await controls.load('shop')).toEqual(done);
    });

    each('do not touch the offset, nor it them', async (_, store) => {
      const done = await store.controls.change('shop', NO_CONTROLS, { paused: order, held: hold('42') });
      expect(await store.load('shop')).toBeNull();
      const offset = next(await store.claim('shop', seed), {});
      expect(await store.commit('shop', offset)).toBe('saved');
      await store.replace('shop', offset, null);
      expect(await store.controls.load('shop')).toEqual(done);
    });

    each('keep pipelines apart, however they are called', async (_, { controls }) => {
      const pipelines = [...Object.values(oddNames), 'shop', 'Shop', 'shop:controls'];
      for (const name of pipelines)
        await controls.change(name, NO_CONTROLS, { paused: { ...order, note: name }, held: [] });
      for (const name of pipelines) expect((await controls.load(name)).paused?.note).toBe(name);
      for (const name of ['', 'half a \ud83e pair'])
        for (const attempt of [
          controls.load(name),
          controls.newer(name, 0),
          controls.change(name, NO_CONTROLS, { paused: null, held: [] }),
        ])
          await expect(attempt.catch(thrown)).resolves.toMatchObject({ code: 'OFFSETS_CONFIG' });
    });
  });
}
