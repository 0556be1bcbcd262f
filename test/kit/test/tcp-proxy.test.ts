import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { TcpProxy } from '@strandline/test-kit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

/** Gives back what it gets. */
let echo: Server;
let proxy: TcpProxy;
const clients: Socket[] = [];

beforeEach(async () => {
  echo = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  proxy = await TcpProxy.start(`tcp://127.0.0.1:${String((echo.address() as AddressInfo).port)}`);
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await proxy[Symbol.asyncDispose]();
  echo.close();
});

async function open(): Promise<Socket> {
  const client = connect(Number(new URL(proxy.url).port), '127.0.0.1');
  client.on('error', () => undefined);
  clients.push(client);
  await once(client, 'connect');
  return client;
}

/** Says something, and resolves with the milliseconds until all of it has come back. */
async function askedAndAnswered(client: Socket, text: string): Promise<number> {
  const began = performance.now();
  let heard = '';
  const answered = new Promise<void>((resolve) => {
    const hear = (chunk: Buffer): void => {
      heard += chunk.toString();
      if (heard.length < text.length) return;
      client.off('data', hear);
      resolve();
    };
    client.on('data', hear);
  });
  client.write(text);
  await answered;
  expect(heard).toBe(text);
  return performance.now() - began;
}

describe('a network that is cut', () => {
  test('ends what is open and refuses what is new, until it is mended', async () => {
    const before = await open();
    await askedAndAnswered(before, 'before');
    const hungUp = once(before, 'close');
    proxy.cut();
    await hungUp;
    const refused = connect(Number(new URL(proxy.url).port), '127.0.0.1');
    refused.on('error', () => undefined);
    clients.push(refused);
    await new Promise((resolve) => refused.once('close', resolve));

    proxy.mend();
    await askedAndAnswered(await open(), 'after');
  });

  test('tells the server too', async () => {
    const atServer = once(echo, 'connection');
    const client = await open();
    const [socket] = (await atServer) as [Socket];
    await askedAndAnswered(client, 'here');
    const gone = once(socket, 'close');
    proxy.cut();
    await gone;
  });
});

describe('a network that is slow', () => {
  test('delivers everything later, in both directions, on connections that were open before', async () => {
    const client = await open();
    await askedAndAnswered(client, 'at once');
    proxy.delay(60);
    expect(await askedAndAnswered(client, 'late')).toBeGreaterThanOrEqual(119);
    proxy.delay(0);
    const quick = await Promise.all([askedAndAnswered(client, 'at once again')]);
    expect(quick[0]).toBeLessThan(60);
  });

  test('keeps the order when it becomes quicker', async () => {
    const client = await open();
    client.setNoDelay(true);
    let heard = '';
    client.on('data', (chunk: Buffer) => (heard += chunk.toString()));
    for (let index = 0; index < 10; index += 1) {
      proxy.delay(100 - index * 10);
      client.write(String(index));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => heard).toBe('0123456789');
  });

  test('loses what is on the way when it is cut', async () => {
    const atServer = once(echo, 'connection');
    const client = await open();
    const [socket] = (await atServer) as [Socket];
    let arrived = 0;
    socket.on('data', (chunk: Buffer) => (arrived += chunk.length));
    proxy.delay(50);
    const gone = once(socket, 'close');
    client.write('lost');
    await new Promise((resolve) => setTimeout(resolve, 10));
    proxy.cut();
    await gone;
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(arrived).toBe(0);
  });
});
