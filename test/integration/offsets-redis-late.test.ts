import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Offset, OffsetSeed, OffsetStore } from '@strandline/core';
import { redisOffsets } from '@strandline/offsets-redis';
import { testRedis } from '@strandline/test-kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const seed: OffsetSeed = { identity: { system: '7301' }, watermark: '0/1000:0' };

/**
 * A network that delivers late: commands that were sent, timed out and were given up reach Redis after newer ones,
 * as they do when TCP sends again at the end of a partition.
 */
describe('a command that timed out and reaches Redis late', () => {
  let redis: Awaited<ReturnType<typeof testRedis>>;
  let network: Network;
  let stores: OffsetStore[];
  const open = (): OffsetStore => {
    const url = new URL(redis.url);
    [url.hostname, url.port] = ['127.0.0.1', String(network.port)];
    const limits = { connectTimeout: 2_000, commandTimeout: 500 };
    const store = redisOffsets({ url: url.href, keyPrefix: redis.key('late'), ...limits });
    stores.push(store);
    return store;
  };

  beforeEach(async () => {
    redis = await testRedis();
    network = await Network.to(new URL(redis.url));
    stores = [];
  });
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await network.close();
    await redis[Symbol.asyncDispose]();
  });

  it('as a commit of the same owner, it does not move the offset back', async () => {
    const store = open();
    const claimed = await store.claim('shop', seed);
    network.hold();
    await expect(store.commit('shop', at(claimed, 1))).rejects.toMatchObject({ code: 'OFFSETS_UNAVAILABLE' });
    network.pass();
    expect(await store.commit('shop', at(claimed, 2))).toBe('saved');
    expect(await network.deliver()).toContain('stale');
    expect(await store.load('shop')).toEqual(at(claimed, 2));
    expect(await store.commit('shop', at(claimed, 3))).toBe('saved');
  });

  it('as a commit of a former owner, it changes nothing', async () => {
    const former = open();
    const claimed = await former.claim('shop', seed);
    await former.commit('shop', at(claimed, 1));
    network.hold();
    await expect(former.commit('shop', at(claimed, 90))).rejects.toMatchObject({
      code: 'OFFSETS_UNAVAILABLE',
    });
    network.pass();
    const owner = open();
    const taken = await owner.claim('shop', seed);
    expect(taken).toMatchObject({ epoch: 2, revision: 1 });
    expect(await network.deliver()).toContain('fenced');
    expect(await owner.load('shop')).toEqual(taken);
    expect(await owner.commit('shop', at(taken, 2))).toBe('saved');
    expect(await former.commit('shop', at(claimed, 91))).toBe('fenced');
  });

  it('as a claim, it does not fence the process that gave it up and has claimed again', async () => {
    const store = open();
    await store.load('shop');
    network.hold();
    await expect(store.claim('shop', seed)).rejects.toMatchObject({ code: 'OFFSETS_UNAVAILABLE' });
    network.pass();
    const claimed = await store.claim('shop', seed);
    expect(claimed.epoch).toBe(1);
    expect(await network.deliver()).toContain('claimed');
    expect(await store.load('shop')).toEqual(claimed);
    expect(await store.commit('shop', at(claimed, 1))).toBe('saved');
    expect((await store.claim('shop', seed)).epoch).toBe(2);
  });

  it('as a claim of another process, it fences the owner: there is no other way to tell', async () => {
    const [store, other] = [open(), open()];
    await store.load('shop');
    network.hold();
    await expect(store.claim('shop', seed)).rejects.toMatchObject({ code: 'OFFSETS_UNAVAILABLE' });
    network.pass();
    const claimed = await other.claim('shop', seed);
    await network.deliver();
    expect(await other.commit('shop', at(claimed, 1))).toBe('fenced');
    expect((await other.claim('shop', seed)).epoch).toBe(3);
  });
});

function at(offset: Offset, revision: number): Offset {
  return { ...offset, revision, watermark: `0/${String(1_000 + revision)}:0` };
}

/** A proxy before Redis that can keep back what clients send, and deliver it when the clients are long gone. */
class Network {
  readonly #target: { host: string; port: number };
  readonly #server = createServer((client) => {
    this.#accept(client);
  });
  readonly #sockets = new Set<Socket>();
  readonly #held = new Map<Socket, Buffer[]>();
  #isHolding = false;

  private constructor(url: URL) {
    this.#target = { host: url.hostname, port: Number(url.port) };
  }

  static async to(url: URL): Promise<Network> {
    const network = new Network(url);
    network.#server.listen(0, '127.0.0.1');
    await once(network.#server, 'listening');
    return network;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** From now on, what open connections send is kept back. */
  hold(): void {
    this.#isHolding = true;
  }

  /** What is sent from now on passes; what was kept back stays so. */
  pass(): void {
    this.#isHolding = false;
  }

  /** Delivers what was kept back, and resolves with what Redis answers to it. */
  async deliver(): Promise<string> {
    const answers = [...this.#held].map(async ([upstream, chunks]) => {
      const answered = once(upstream, 'data') as Promise<[Buffer]>;
      upstream.write(Buffer.concat(chunks));
      return String((await answered)[0]);
    });
    this.#held.clear();
    expect(answers.length).toBeGreaterThan(0);
    return (await Promise.all(answers)).join('');
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(client: Socket): void {
    const upstream = connect(this.#target);
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket.on('error', () => undefined));
    }
    upstream.pipe(client);
    client.on('data', (chunk: Buffer) => {
      const held = this.#held.get(upstream);
      if (held !== undefined) held.push(chunk);
      else if (this.#isHolding) this.#held.set(upstream, [chunk]);
      else upstream.write(chunk);
    });
    client.on('close', () => {
      upstream.unpipe(client);
      upstream.resume();
      if (!this.#held.has(upstream)) upstream.end();
    });
  }
}
