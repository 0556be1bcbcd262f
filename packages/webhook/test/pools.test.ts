import { expect, it } from 'vitest';
import { Pools } from '../src/pools.js';

const options = { connections: null, connectTimeout: 1_000, refusePrivateAddresses: false, tls: {} };
const origin = (n: number): string => `http://h${String(n)}.invalid`;

it('keeps the connections of the hundred origins that were used last', async () => {
  const pools = new Pools(options);
  const opened = [];
  for (let n = 0; n < 100; n += 1) opened.push(await pools.of(origin(n)));
  expect(await pools.of(origin(0)), 'the same one').toBe(opened[0]);
  await pools.of(origin(100));
  expect(opened.map(({ closed }) => closed).indexOf(true), 'used least recently').toBe(1);
  expect(opened.filter(({ closed }) => closed)).toHaveLength(1);
  await pools.close(true);
  expect(opened.filter(({ closed }) => !closed)).toEqual([]);
});
