import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRedis, type RedisServer } from '../src/index.js';
import { pingRedis } from '../src/redis/redis-ping.js';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ args: ['--appendfsync', 'always'] });
}, 120_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** Sends one command after logging in; resolves with all that comes back. */
function say(command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, server.host);
    let answer = '';
    socket.on('error', reject);
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('close', () => {
      resolve(answer);
    });
    socket.write(`AUTH ${new URL(server.url).password}\r\n${command}\r\nQUIT\r\n`);
  });
}

test('keeps an append-only file and no snapshots, with the arguments given on top', async () => {
  expect(await say('CONFIG GET save')).toContain('save\r\n$0\r\n');
  expect(await say('CONFIG GET appendonly')).toContain('yes');
  expect(await say('CONFIG GET appendfsync')).toContain('always');
  if (server.dataDirectory !== undefined)
    expect(await readdir(server.dataDirectory)).toContain('appendonlydir');
});

test('asks for its password', async () => {
  await expect(pingRedis(server.url.replace(/:[^:@]+@/, ':wrong@'))).rejects.toThrow(/WRONGPASS/);
  await expect(pingRedis(`redis://${server.host}:${String(server.port)}`)).rejects.toThrow(/NOAUTH/);
});

test('comes back from SIGKILL and from an orderly stop with what was written, on the same port', async () => {
  await say('SET written 1');
  await server.kill();
  await expect(pingRedis(server.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await server.start();
  expect(await say('GET written')).toContain('$1\r\n1\r\n');
  await server.restart();
  expect(await say('GET written')).toContain('$1\r\n1\r\n');
});

test('paused, it keeps connections open and answers nothing; resumed, it answers', async () => {
  await server.pause();
  const answer = say('PING');
  const first = await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 150, 'silence'))]);
  expect(first).toBe('silence');
  await server.resume();
  expect(await answer).toContain('+PONG');
});

test('can be stopped and killed while it is paused', async () => {
  await server.pause();
  await server.stop();
  await server.start();
  await server.pause();
  await server.kill();
  await server.start();
  expect(await say('PING')).toContain('+PONG');
});
