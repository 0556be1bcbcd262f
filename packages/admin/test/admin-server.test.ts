import type { Pipeline, PipelineStatus } from '@strandline/pipeline';
import { Server } from 'node:net';
import pino from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { AdminServer, parseAddress } from '../src/index.js';
import { looked } from './looked.js';

const servers: AdminServer[] = [];
const log = pino({ level: 'silent' });

/** Of the pipeline itself health and history need no more. */
function pipelineWith(status: () => PipelineStatus): Pipeline {
  const nothing = { admitted: 0, settled: 0, retries: 0, unsettled: 0, bytes: 0, source: null, oldest: null };
  return { name: 'orders', status, totals: () => nothing, details: () => nothing } as unknown as Pipeline;
}

afterEach(async () => {
  vi.useRealTimers();
  for (const server of servers.splice(0)) await server.stop();
});

async function serving(status: () => PipelineStatus, stalledAfter?: number): Promise<string> {
  const server = new AdminServer({
    ...{ pipelines: [pipelineWith(status)], address: parseAddress('0'), log },
    ...(stalledAfter === undefined ? {} : { stalledAfter }),
  });
  servers.push(server);
  return server.start();
}

async function ask(url: string): Promise<[number, unknown]> {
  const response = await fetch(url);
  return [response.status, await response.json()];
}

test('says that it lives while nothing is ready, and when all is', async () => {
  let status = looked({ state: 'starting' });
  const url = await serving(() => status);
  expect(await ask(`${url}/livez`)).toEqual([200, { status: 'ok' }]);
  expect(await ask(`${url}/readyz`)).toMatchObject([503, { pipelines: [{ reasons: ['it is starting'] }] }]);
  status = looked();
  expect(await ask(`${url}/readyz`)).toMatchObject([
    200,
    { status: 'ok', pipelines: [{ pipeline: 'orders' }] },
  ]);
  expect(await ask(`${url}/healthz`)).toMatchObject([200, { status: 'ok' }]);
});

test('a pipeline that stands still with work is ready, and not healthy', async () => {
  const url = await serving(() => looked({ unsettled: 1, halted: 1 }), 1);
  await vi.waitFor(async () => {
    expect(await ask(`${url}/healthz`)).toMatchObject([503, { status: 'failing' }]);
  }, 10_000);
  expect(await ask(`${url}/readyz`)).toMatchObject([200, { status: 'ok' }]);
});

test('an address that is taken is told with a remedy, and stopping is for any time', async () => {
  const url = await serving(() => looked());
  const second = new AdminServer({ pipelines: [], address: parseAddress(new URL(url).port), log });
  await expect(second.start()).rejects.toMatchObject({ code: 'ADMIN_LISTEN' });
  await second.stop();
  const [first] = servers;
  await first?.stop();
  await first?.stop();
  await expect(fetch(`${url}/livez`)).rejects.toThrow();
});

test('beyond this machine nothing but health is told without a token, and all with it', async () => {
  const address = parseAddress('0.0.0.0:0');
  const [without, guarded] = [undefined, 'a-token'].map((token) => {
    const server = new AdminServer({ pipelines: [pipelineWith(looked)], address, log, token });
    servers.push(server);
    return server;
  });
  const open = (await without?.start())?.replace('0.0.0.0', '127.0.0.1') ?? '';
  expect((await fetch(`${open}/readyz`)).status).toBe(200);
  expect((await fetch(`${open}/api/v1/audit`)).status).toBe(404);
  const closed = (await guarded?.start())?.replace('0.0.0.0', '127.0.0.1') ?? '';
  expect((await fetch(`${closed}/readyz`)).status).toBe(200);
  expect(await ask(`${closed}/api/v1/audit`)).toMatchObject([401, { code: 'ADMIN_TOKEN' }]);
  const headers = { authorization: 'Bearer a-token' };
  const answer = await fetch(`${closed}/api/v1/audit`, { headers });
  expect([answer.status, await answer.json()]).toEqual([200, { entries: [] }]);
  expect(answer.headers.get('cache-control')).toBe('no-store');
});

test('an error while it listens is logged, and ends nothing', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen');
  const error = vi.spyOn(log, 'error');
  const url = await serving(() => looked());
  const [server] = listen.mock.contexts;
  if (!(server instanceof Server)) throw new Error('nothing listens');
  const failure = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' });
  server.emit('error', failure);
  expect(error).toHaveBeenCalledWith({ err: failure }, expect.any(String));
  expect(await ask(`${url}/livez`)).toEqual([200, { status: 'ok' }]);
});
