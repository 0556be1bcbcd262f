import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { consolePage } from '../src/index.js';

/** Bytes, compressed, of everything that a browser loads: a second on a slow line. */
const MOST = 80_000;

test('is small, and names what it loads by its content', async () => {
  const page = await consolePage();
  const index = page.get('/');
  const text = new TextDecoder().decode(index?.body);
  expect(text).not.toMatch(/<script(?![^>]* src=)|<style|style=|onload=|https?:\/\//);
  const named = [...text.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, path = '']) => `/${path}`);
  expect(named.filter((path) => !page.has(path))).toEqual([]);
  expect(named.filter((path) => page.get(path)?.immutable === true)).toHaveLength(2);
  const size = [...page.values()].reduce((sum, { body }) => sum + gzipSync(body).length, 0);
  expect(size).toBeLessThan(MOST);
});
