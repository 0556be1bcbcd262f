import type { OutboxEvent } from '@strandline/core';
import { expect, it } from 'vitest';
import { position, until } from './fixtures.js';
import { events, Shop } from './replay-shop.js';

async function collect(tail: AsyncIterable<OutboxEvent>, most: number): Promise<string[]> {
  const seen: string[] = [];
  for await (const { id } of tail) if (seen.push(id) === most) break;
  return seen;
}

it('a tail reads what commits from now on, as it comes, and touches nothing', async () => {
  const shop = new Shop();
  await using pipeline = shop.define();
  const tailed = collect(pipeline.tail(), 2);
  await until('it reads', () => shop.log.readers.length === 1);
  shop.log.append(...events(10, 11));
  expect(await tailed).toEqual(['10', '11']);
  expect([shop.offsets.offsets.size, shop.log.readers[0]?.closed]).toEqual([0, 1]);
});

it.each([
  [{ from: 'earliest' }, ['1', '2', '3']],
  [{ from: { position: position(4) } }, ['5', '6', '7']],
  [{ from: { bookmark: 'deploy' } }, ['7', '8', '9']],
  [{ from: { time: '2026-01-01T00:00:02Z' } }, ['2', '3', '4']],
  [{ from: 'earliest', key: 'a' }, ['3', '6', '9']],
] as const)('a tail begins at %j', async (options, seen) => {
  const shop = new Shop();
  shop.offsets.bookmarks.at('deploy', 6);
  await using pipeline = shop.define();
  expect(await collect(pipeline.tail(options), 3)).toEqual(seen);
});

it('a tail ends with its signal, and with its pipeline', async () => {
  const shop = new Shop();
  const pipeline = shop.define();
  const ending = new AbortController();
  const first = collect(pipeline.tail({ signal: ending.signal }), Infinity);
  const second = collect(pipeline.tail({ from: { position: position(8) } }), Infinity);
  await until('both read', () => shop.log.readers.length === 2);
  ending.abort();
  expect(await first).toEqual([]);
  await pipeline.stop();
  expect(await second).toEqual(['9']);
});

it.each([
  [{ from: { bookmark: 'gone' } }, 'REPLAY_BOOKMARK'],
  [{ from: { time: 'noon' } }, 'REPLAY_CONFIG'],
] as const)('a tail of %j is refused', async (options, code) => {
  await using pipeline = new Shop().define();
  await expect(collect(pipeline.tail(options), 1)).rejects.toMatchObject({ code });
});
