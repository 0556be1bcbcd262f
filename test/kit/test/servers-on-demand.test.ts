import { once } from 'node:events';
import { get, type ClientRequest, type IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { ServerPool } from '../src/server-pool.js';
import { ServersOnDemand } from '../src/servers-on-demand.js';

/** One server at a time, each at an address that has its name. */
function listen(): Promise<ServersOnDemand> {
  const start = (name: string): Promise<{ url: string } & AsyncDisposable> =>
    name === 'mysql:0'
      ? Promise.reject(new Error('no such image'))
      : Promise.resolve({ url: `mysql://${name}`, [Symbol.asyncDispose]: () => Promise.resolve() });
  return ServersOnDemand.listen(new ServerPool(1, start));
}

async function ask(url: string): Promise<{ request: ClientRequest; answer: IncomingMessage }> {
  const request = get(url);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return { request, answer };
}

test('a server that a test file used is free for others when that file dies', async () => {
  await using servers = await listen();
  const first = await ask(`${servers.address}mysql`);
  expect(first.answer.headers.location).toBe('mysql://mysql');
  const second = ask(`${servers.address}mariadb:10.11`);
  const isServed = await Promise.race([second, new Promise((resolve) => setTimeout(resolve, 50, 'waits'))]);
  expect(isServed).toBe('waits');
  first.request.destroy();
  expect((await second).answer.headers.location).toBe('mysql://mariadb:10.11');
});

test('one that does not start is told with its reason, and what is no server is not found', async () => {
  await using servers = await listen();
  const { answer } = await ask(`${servers.address}mysql:0`);
  expect(answer.statusCode).toBe(503);
  expect(
    await answer.setEncoding('utf8').reduce((text: string, chunk: string) => text + chunk, ''),
  ).toContain('no such image');
  for (const url of [
    `${servers.address}postgres`,
    `${servers.address}mysql:`,
    new URL('/mysql', servers.address).href,
  ])
    expect((await ask(url)).answer.statusCode).toBe(404);
});
