import { expect, it } from 'vitest';
import type { RedisNode } from '../src/client.js';
import { scanAll } from '../src/scan-all.js';

function node(): RedisNode {
  return { scan: () => Promise.resolve(['0', []]) };
}

it('keys that move to a shard that was added meanwhile are found', async () => {
  const [first, second, added] = [node(), node(), node()];
  const keys = new Map([
    [first, ['a']],
    [second, ['b', 'c']],
    [added, [] as string[]],
  ]);
  let nodes = [first, second];
  const found = new Set<string>();
  await scanAll({
    name: 'the cluster',
    keyspace: () => Promise.resolve({ nodes, layout: String(nodes.length) }),
    scan: (one) => {
      for (const key of keys.get(one) ?? []) found.add(key);
      if (one === first && nodes.length === 2) {
        keys.set(second, ['b']).set(added, ['c']);
        nodes = [first, second, added];
      }
      return Promise.resolve();
    },
  });
  expect(found).toEqual(new Set(['a', 'b', 'c']));
});

it('a cluster whose hash slots go on moving is not listed by halves', async () => {
  let layout = 0;
  const listing = scanAll({
    name: 'the cluster',
    keyspace: () => Promise.resolve({ nodes: [node()], layout: String((layout += 1)) }),
    scan: () => Promise.resolve(),
  });
  await expect(listing).rejects.toMatchObject({ code: 'OFFSETS_UNAVAILABLE' });
});
