import type { Pool } from 'undici';
import { expect, it } from 'vitest';
import { Pools } from '../src/pools.js';

const options = { connections: null, connectTimeout: 1_000, refusePrivateAddresses: false, tls: {} };
const origin = (n: number): string => `http://h${String(n)}.invalid`;
const itself = (pool: Pool): Promise<Pool> => Promise.resolve(pool);

it('keeps the connections of the hundred origins that were used last', async () => {
  const pools = new Pools(options);
  const opened = [];
  for (let n = 0; n < 100; n += 1) opened.push(await pools.use(origin(n), itself));
  expect(await pools.use(origin(0), itself), 'the same one').toBe(opened[0]);
  await pools.use(origin(100), itself);
  expect(opened.map(({ closed }) => closed).indexOf(true), 'used least recently').toBe(1);
  expect(opened.filter(({ closed }) => closed)).toHaveLength(1);
  await pools.close(true);
  expect(opened.filter(({ closed }) => !closed)).toEqual([]);
});

it('closes none that is in use, however many are, and those above the bound once they are not', async () => {
  const pools = new Pools(options);
  const used: Pool[] = [];
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const all = Promise.all(
    Array.from({ length: 150 }, (_, n) =>
      pools.use(origin(n), async (pool) => {
        used.push(pool);
        await ended;
        return pool.closed;
      }),
    ),
  );
  await expect.poll(() => used.length).toBe(150);
  expect(used.filter(({ closed }) => closed)).toEqual([]);
  end();
  await all;
  expect(used.filter(({ closed }) => closed)).toHaveLength(50);
  await pools.close(true);
});
