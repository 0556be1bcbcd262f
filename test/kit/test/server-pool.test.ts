import { describe, expect, test } from 'vitest';
import { ServerPool } from '../src/server-pool.js';

/** Servers that only note when they start and stop. */
function pool(limit: number): { pool: ServerPool<AsyncDisposable>; log: string[] } {
  const log: string[] = [];
  const start = (name: string): Promise<AsyncDisposable> => {
    log.push(`+${name}`);
    if (name === 'broken') return Promise.reject(new Error('no such image'));
    return Promise.resolve({
      [Symbol.asyncDispose]: () => {
        log.push(`-${name}`);
        return Promise.resolve();
      },
    });
  };
  return { pool: new ServerPool(limit, start), log };
}

describe('a pool of servers', () => {
  test('starts each once, however many ask at once, and stops all at the end', async () => {
    const { pool: servers, log } = pool(2);
    const leases = await Promise.all([servers.lease('a'), servers.lease('a'), servers.lease('b')]);
    expect(leases[0].server).toBe(leases[1].server);
    expect(log).toEqual(['+a', '+b']);
    await servers[Symbol.asyncDispose]();
    expect(log).toEqual(['+a', '+b', '-a', '-b']);
  });

  test('keeps one that nobody uses, until its room is needed: the one that was used least lately goes', async () => {
    const { pool: servers, log } = pool(2);
    for (const name of ['a', 'b', 'a']) (await servers.lease(name)).release();
    expect(log).toEqual(['+a', '+b']);
    (await servers.lease('c')).release();
    expect(log).toEqual(['+a', '+b', '-b', '+c']);
  });

  test('stops none that is used: who asks for one more waits until one is free', async () => {
    const { pool: servers, log } = pool(1);
    const [first, second] = await Promise.all([servers.lease('a'), servers.lease('a')]);
    const waiting = Promise.all(
      ['b', 'c'].map(async (name) => {
        (await servers.lease(name)).release();
      }),
    );
    first.release();
    first.release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(log).toEqual(['+a']);
    second.release();
    await waiting;
    expect(log).toEqual(['+a', '-a', '+b', '-b', '+c']);
  });

  test('tells everybody who asks that one did not start, and gives its room to another', async () => {
    const { pool: servers, log } = pool(1);
    await expect(servers.lease('broken')).rejects.toThrow('no such image');
    await expect(servers.lease('broken')).rejects.toThrow('no such image');
    (await servers.lease('a')).release();
    expect(log).toEqual(['+broken', '+a']);
  });

  test('tidies one that nobody uses before the next one has it, and never one that is used', async () => {
    const log: string[] = [];
    const server = { [Symbol.asyncDispose]: () => Promise.resolve() };
    let tidied: () => void = () => undefined;
    const tidying = new Promise<void>((resolve) => (tidied = resolve));
    const servers = new ServerPool(
      1,
      () => Promise.resolve(server),
      () => {
        log.push('tidied');
        return tidying;
      },
    );
    const asks = async (name: string): Promise<() => void> => {
      const { release } = await servers.lease('a');
      log.push(name);
      return release;
    };
    const both = Promise.all([asks('first'), asks('second')]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(log).toEqual(['tidied']);
    tidied();
    const releases = await both;
    releases[0]();
    (await asks('third'))();
    expect(log).toEqual(['tidied', 'first', 'second', 'third']);
    releases[1]();
    (await asks('fourth'))();
    expect(log).toEqual(['tidied', 'first', 'second', 'third', 'tidied', 'fourth']);
  });
});
