import { expect, describe } from 'vitest';
import { closing, next, oddNames, run, seed, type Each } from './offset-store-fixtures.js';

export function describeContents(each: Each): void {
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
}
