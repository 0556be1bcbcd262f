import { PermanentError, type OutboxEvent } from '@strandline/core';
import { describe, expect, it } from 'vitest';
import type { ReplayStart } from '../src/config.js';
import { gate, position, turn, until } from './fixtures.js';
import { events, Shop } from './replay-shop.js';

const NAME = 'shop-replay';

/** A shop whose replay of everything was interrupted after the fourth event. */
async function interrupted(): Promise<Shop> {
  const shop = new Shop();
  await using pipeline = shop.define({
    concurrency: 1,
    handle: (event) => {
      shop.seen.push(event.id);
      if (event.id === '4') void replay.stop();
    },
  });
  const replay = await pipeline.replay({ from: 'earliest' });
  expect(await replay.finished).toMatchObject({ state: 'interrupted', position: position(4), events: 4 });
  return shop;
}

describe('a replay that is interrupted', () => {
  it('goes on where it was, up to the end that it had, when the same is asked for again', async () => {
    const shop = await interrupted();
    shop.log.append(...events(10, 12));
    await using pipeline = shop.define();
    const replay = await pipeline.replay({ from: 'earliest' });
    expect(replay.status()).toMatchObject({ from: position(0), to: position(9) });
    expect(await replay.finished).toMatchObject({ state: 'completed', events: 5 });
    expect(shop.seen.map(Number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('is over once it is done: the same, asked for again, is a new one', async () => {
    const shop = await interrupted();
    await using pipeline = shop.define();
    await (
      await pipeline.replay({ from: 'earliest' })
    ).finished;
    expect(shop.offsets.offsets.has(NAME)).toBe(false);
    expect(await (await pipeline.replay({ from: 'earliest' })).finished).toMatchObject({ events: 9 });
  });

  it('ends at once when all was done, and only its offset was left', async () => {
    const shop = await interrupted();
    const saved = shop.offsets.offsets.get(NAME);
    if (saved === undefined) expect.fail('it was interrupted');
    shop.offsets.offsets.set(NAME, { ...saved, watermark: position(9) });
    await using pipeline = shop.define();
    const replay = await pipeline.replay({ from: 'earliest' });
    expect(await replay.finished).toMatchObject({ state: 'completed', events: 0, progress: 1 });
    expect(shop.offsets.offsets.has(NAME)).toBe(false);
  });

  it.each([
    ['from elsewhere', { from: { position: position(1) } }],
    ['up to elsewhere', { from: 'earliest', to: { position: position(9) } }],
    ['of another key', { from: 'earliest', key: 'a' }],
    ['of another type', { from: 'earliest', type: 'odd' }],
    ['by another handler', { from: 'earliest', handler: 'rebuild' }],
  ] as const)('refuses another one %s, and stays as it is', async (_, options) => {
    const shop = await interrupted();
    const before = shop.offsets.offsets.get(NAME);
    await using pipeline = shop.define({ handlers: { rebuild: () => undefined } });
    await expect(pipeline.replay(options)).rejects.toMatchObject({
      code: 'REPLAY_UNFINISHED',
      message: expect.stringContaining(`interrupted at ${position(4)}`) as string,
    });
    expect(shop.offsets.offsets.get(NAME)).toBe(before);
  });

  it('is given up for another one with restart', async () => {
    const shop = await interrupted();
    await using pipeline = shop.define();
    const replay = await pipeline.replay({ from: { position: position(7) }, restart: true });
    expect(await replay.finished).toMatchObject({ events: 2 });
    expect(shop.seen.slice(4)).toEqual(['8', '9']);
  });

  it('is the same when a bookmark is at the position that was named', async () => {
    const shop = new Shop();
    shop.offsets.bookmarks.at('deploy', 2);
    await using pipeline = shop.define({
      handle: ({ id }) => {
        shop.seen.push(id);
        void first.stop();
      },
    });
    const first = await pipeline.replay({ from: { bookmark: 'deploy' } });
    await first.finished;
    await using again = shop.define();
    await (
      await again.replay({ from: { position: position(2) } })
    ).finished;
    expect(shop.seen).toEqual(['3', '4', '5', '6', '7', '8', '9']);
    shop.offsets.bookmarks.kept.length = 0;
  });

  it('does not handle again what was handled above a slow key', async () => {
    const shop = new Shop();
    const slow = gate();
    await using pipeline = shop.define({
      drainTimeout: 0,
      handle: async ({ key, id }, { signal }) => {
        if (key === 'b') {
          await Promise.race([slow.promise, once(signal)]);
          throw new Error('interrupted');
        }
        shop.seen.push(id);
      },
    });
    const replay = await pipeline.replay({ from: 'earliest' });
    await until('the others are done', () => replay.status().events === 6);
    await replay.stop();
    await using again = shop.define();
    expect(await (await again.replay({ from: 'earliest' })).finished).toMatchObject({ events: 3 });
    expect(shop.seen.slice(6)).toEqual(['1', '4', '7']);
  });

  it('by the stop of its pipeline saves what was done', async () => {
    const shop = new Shop();
    const slow = gate();
    const pipeline = shop.define({ handle: ({ id }) => (id === '1' ? undefined : slow.promise) });
    const replay = await pipeline.replay({ from: 'earliest' });
    await until('one is done', () => replay.status().events === 1);
    const stopped = pipeline.stop();
    slow.open();
    await stopped;
    expect((await replay.finished).state).toBe('interrupted');
    expect(shop.offsets.closed).toBe(1);
    expect(shop.offsets.offsets.get(NAME)?.watermark).not.toBe(position(0));
  });

  it('by a handler of it that stops the pipeline waits for that handler', async () => {
    const shop = new Shop();
    const stopped = gate();
    const pipeline = shop.define({
      concurrency: 1,
      handle: async ({ id }) => {
        await pipeline.stop();
        shop.seen.push(`${id} before ${String(shop.offsets.closed)}`);
        stopped.open();
      },
    });
    const replay = await pipeline.replay({ from: 'earliest' });
    expect(await replay.finished).toMatchObject({ state: 'interrupted', events: 1 });
    await pipeline.finished;
    expect([shop.seen, shop.offsets.closed]).toEqual([['1 before 0'], 1]);
  });
});

describe('a handler that fails for good', () => {
  it('stops the replay, which names key and position, and goes on with that event', async () => {
    const shop = new Shop();
    const cause = new PermanentError('card 4711');
    let isBroken = true;
    const handle = ({ id }: OutboxEvent): void => {
      if (id === '5' && isBroken) throw cause;
      shop.seen.push(id);
    };
    await using pipeline = shop.define({ concurrency: 1, handle });
    const replay = await pipeline.replay({ from: 'earliest' });
    const error: unknown = await replay.finished.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'REPLAY_FAILED', key: 'c', position: position(5), cause });
    expect(String(error)).not.toContain('4711');
    expect(replay.summary()).toMatchObject({ state: 'failed', position: position(4), events: 4 });
    isBroken = false;
    await (
      await pipeline.replay({ from: 'earliest' })
    ).finished;
    expect(shop.seen.map(Number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});

describe('another process with the same replay', () => {
  it('takes it over, and this one stops', async () => {
    const shop = new Shop();
    const slow = gate();
    await using pipeline = shop.define({ handle: ({ id }) => (id === '2' ? slow.promise : undefined) });
    const replay = await pipeline.replay({ from: 'earliest' });
    await until('some are done', () => replay.status().events > 0);
    await using another = shop.define();
    const second = await another.replay({ from: 'earliest' });
    slow.open();
    await expect(replay.finished).rejects.toMatchObject({ code: 'REPLAY_TAKEN' });
    expect((await second.finished).state).toBe('completed');
  });
});

describe('onReplayStart', () => {
  it('is awaited before the first event of a new replay, and not when it goes on', async () => {
    const shop = new Shop();
    const told: unknown[] = [];
    const emptied = gate();
    const onReplayStart = async ({ replay, from, to }: ReplayStart): Promise<void> => {
      told.push([replay, from, to]);
      await emptied.promise;
      shop.seen.push('emptied');
    };
    await using pipeline = shop.define({
      concurrency: 1,
      onReplayStart,
      handle: ({ id }) => {
        shop.seen.push(id);
        void pipeline.stop();
      },
    });
    const opening = pipeline.replay({ from: { position: position(7) } });
    for (let i = 0; i < 10; i += 1) await turn();
    expect(shop.seen).toEqual([]);
    emptied.open();
    await (
      await opening
    ).finished;
    await using again = shop.define({ onReplayStart });
    await (
      await again.replay({ from: { position: position(7) } })
    ).finished;
    expect(told).toEqual([[NAME, position(7), position(9)]]);
    expect(shop.seen).toEqual(['emptied', '8', '9']);
  });

  it('that fails leaves a replay that is still to be begun', async () => {
    const shop = new Shop();
    let calls = 0;
    await using pipeline = shop.define({
      onReplayStart: () => {
        calls += 1;
        if (calls === 1) throw new Error('locked');
      },
    });
    await expect(pipeline.replay({ from: 'earliest' })).rejects.toMatchObject({ code: 'REPLAY_HOOK' });
    expect(shop.seen).toEqual([]);
    await (
      await pipeline.replay({ from: 'earliest' })
    ).finished;
    expect([calls, shop.seen.length]).toEqual([2, 9]);
  });

  it('that does not end does not hold up the stop of the pipeline', async () => {
    const shop = new Shop();
    const pipeline = shop.define({ onReplayStart: () => new Promise(() => undefined) });
    const opening = pipeline.replay({ from: 'earliest' });
    await until('it is called', () => shop.offsets.offsets.size > 0);
    const refused = expect(opening).rejects.toMatchObject({ code: 'PIPELINE_STATE' });
    await pipeline.stop();
    await refused;
    expect(shop.log.readers.map(({ closed }) => closed > 0)).toEqual([true]);
  });
});

function once(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}
