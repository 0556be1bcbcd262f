import { PermanentError, StrandlineError, type OutboxEvent } from '@strandline/core';
import { describe, expect, it } from 'vitest';
import { FakeLetters } from './fake-letters.js';
import { gate, offsetAt, position, turn, until } from './fixtures.js';
import { events, Shop } from './replay-shop.js';

const NAME = 'shop-replay';

describe('a replay', () => {
  it.each([
    ['positions', { position: position(2) }, { position: position(6) }],
    ['bookmarks', { bookmark: 'before' }, { bookmark: 'after' }],
    ['times', { time: '2026-01-01T01:00:03+01:00' }, { time: '2026-01-01T00:00:07Z' }],
  ])('handles what lies between two %s, in order, and nothing else', async (_, from, to) => {
    const shop = new Shop();
    shop.offsets.bookmarks.at('before', 2);
    shop.offsets.bookmarks.at('after', 6);
    await using pipeline = shop.define();
    const replay = await pipeline.replay({ from, to });
    const summary = await replay.finished;
    expect(shop.seen).toEqual(['3', '4', '5', '6']);
    expect(summary).toMatchObject({
      name: NAME,
      state: 'completed',
      events: 4,
      skipped: 0,
      retries: 0,
      keys: 3,
      progress: 1,
      remaining: 0,
    });
    expect(replay.status()).toMatchObject({ state: 'completed', position: position(6) });
    expect(shop.log.readers.every(({ closed }) => closed > 0)).toBe(true);
  });

  it('reads from the oldest up to the end that the log has when it is new', async () => {
    const shop = new Shop();
    shop.log.idleUntil = 12;
    await using pipeline = shop.define();
    const replay = await pipeline.replay({ from: 'earliest' });
    shop.log.append(...events(13, 14));
    expect(await replay.finished).toMatchObject({ to: position(12), events: 9 });
  });

  it('ends inside a transaction, when its end lies there', async () => {
    const shop = new Shop();
    shop.log.insideTransaction = true;
    await using pipeline = shop.define();
    await (
      await pipeline.replay({ from: 'earliest', to: { position: position(4) } })
    ).finished;
    expect(shop.seen).toEqual(['1', '2', '3', '4']);
  });

  it('of nothing ends at once', async () => {
    const shop = new Shop();
    await using pipeline = shop.define();
    const at = { position: position(4) };
    expect(await (await pipeline.replay({ from: at, to: at })).finished).toMatchObject({
      state: 'completed',
      events: 0,
    });
    const before = { time: '2025-01-01T00:00:00Z' };
    expect(await (await pipeline.replay({ from: 'earliest', to: before })).finished).toMatchObject({
      state: 'completed',
      events: 0,
    });
  });

  it('takes what fits key and type, and counts the rest', async () => {
    const shop = new Shop();
    await using pipeline = shop.define();
    const ofKey = await (await pipeline.replay({ from: 'earliest', key: 'a' })).finished;
    expect([shop.seen.splice(0), ofKey.skipped]).toEqual([['3', '6', '9'], 6]);
    const ofBoth = await (await pipeline.replay({ from: 'earliest', key: 'a', type: 'odd' })).finished;
    expect([shop.seen, ofBoth.skipped]).toEqual([['3', '9'], 7]);
    expect(ofBoth).toMatchObject({
      topKeys: [{ name: 'a', events: 2 }],
      topTypes: [{ name: 'odd', events: 2 }],
    });
  });

  it('says so to its handlers, and names events as the live pipeline does', async () => {
    const shop = new Shop();
    await using pipeline = shop.define();
    await (
      await pipeline.replay({ from: { position: position(8) }, as: 'shop-again' })
    ).finished;
    expect(shop.contexts[0]).toMatchObject({
      replay: true,
      pipeline: 'shop-again',
      idempotencyKey: 'shop/public.outbox/9',
    });
  });

  it('has a handler of its own, by name or as it is given', async () => {
    const shop = new Shop();
    const rebuilt: string[] = [];
    const rebuild = ({ id }: OutboxEvent): number => rebuilt.push(id);
    await using pipeline = shop.define({ handlers: { rebuild } });
    await (
      await pipeline.replay({ from: { position: position(8) }, handler: 'rebuild' })
    ).finished;
    await (
      await pipeline.replay({ from: { position: position(7) }, handler: rebuild })
    ).finished;
    expect([rebuilt, shop.seen]).toEqual([['9', '8', '9'], []]);
    await expect(pipeline.replay({ from: 'earliest', handler: 'toString' })).rejects.toMatchObject({
      code: 'REPLAY_CONFIG',
      message: expect.stringContaining('It has rebuild') as string,
    });
  });

  it('leaves the offset and the dead letters of the pipeline alone', async () => {
    const shop = new Shop();
    const live = offsetAt(9);
    shop.offsets.offsets.set('shop', live);
    const letters = new FakeLetters();
    await using pipeline = shop.define({
      deadLetters: letters,
      handle: () => {
        throw new PermanentError('no');
      },
    });
    const replay = await pipeline.replay({ from: 'earliest' });
    await expect(replay.finished).rejects.toMatchObject({ code: 'REPLAY_FAILED' });
    expect(shop.offsets.offsets.get('shop')).toBe(live);
    expect([letters.letters, letters.endedInOrder]).toEqual([[], 0]);
  });

  it('is in order per key and parallel across keys, whatever fails and is tried again', async () => {
    const shop = new Shop();
    const slow = gate();
    const done: string[] = [];
    await using pipeline = shop.define({
      handle: async ({ key, id }, { attempt }) => {
        if (key === 'a') await slow.promise;
        if (key === 'b' && attempt === 1) throw new Error('not yet');
        done.push(key + id);
      },
    });
    const replay = await pipeline.replay({ from: 'earliest' });
    await until('b and c are done', () => done.length === 6);
    expect(replay.status()).toMatchObject({ state: 'running', events: 6, progress: 2 / 9 });
    slow.open();
    const summary = await replay.finished;
    const of = (key: string): string[] => done.filter((one) => one.startsWith(key));
    expect([of('a'), of('b'), of('c')]).toEqual([
      ['a3', 'a6', 'a9'],
      ['b1', 'b4', 'b7'],
      ['c2', 'c5', 'c8'],
    ]);
    expect(summary).toMatchObject({ events: 9, retries: 3 });
  });

  it('waits for handlers and retries however long they take: the time to drain is for stopping', async () => {
    const shop = new Shop();
    const slow = gate();
    await using pipeline = shop.define({
      drainTimeout: 0,
      handle: async ({ id }, { signal }) => {
        if (id === '9') await slow.promise;
        shop.seen.push(`${id}${String(signal.aborted)}`);
      },
    });
    const replay = await pipeline.replay({ from: { position: position(6) } });
    await until('the others are done', () => shop.seen.length === 2);
    for (let i = 0; i < 10; i += 1) await turn();
    slow.open();
    await replay.finished;
    expect(shop.seen).toEqual(['7false', '8false', '9false']);
  });

  it('waits for an offset store that is away', async () => {
    const shop = new Shop();
    await using pipeline = shop.define();
    let refusals = 3;
    shop.offsets.answer = () => {
      refusals -= 1;
      if (refusals >= 0)
        throw new StrandlineError('OFFSETS_UNAVAILABLE', 'Away.', 'Wait.', { transient: true });
    };
    const replay = await pipeline.replay({ from: 'earliest' });
    expect(await replay.finished).toMatchObject({ state: 'completed', events: 9 });
    expect(refusals).toBeLessThan(0);
  });

  it('runs beside others, each name once', async () => {
    const shop = new Shop();
    const slow = gate();
    await using pipeline = shop.define({ handle: () => slow.promise });
    const first = await pipeline.replay({ from: 'earliest' });
    await expect(pipeline.replay({ from: 'earliest' })).rejects.toMatchObject({ code: 'REPLAY_TAKEN' });
    const second = await pipeline.replay({ from: 'earliest', as: 'another' });
    slow.open();
    expect((await first.finished).events + (await second.finished).events).toBe(18);
    await (
      await pipeline.replay({ from: 'earliest' })
    ).finished;
  });
});

describe('a dry run', () => {
  it('counts, calls no handler, and saves nothing', async () => {
    const shop = new Shop();
    await using pipeline = shop.define({ onReplayStart: () => shop.seen.push('hook') });
    const replay = await pipeline.replay({ from: 'earliest', type: 'odd', dryRun: true });
    expect(await replay.finished).toMatchObject({
      dryRun: true,
      state: 'completed',
      events: 5,
      skipped: 4,
      keys: 3,
      topKeys: [
        { name: 'b', events: 2 },
        { name: 'a', events: 2 },
        { name: 'c', events: 1 },
      ],
      topTypes: [{ name: 'odd', events: 5 }],
    });
    expect([shop.seen, shop.offsets.offsets.size]).toEqual([[], 0]);
  });

  it('can be interrupted', async () => {
    const shop = new Shop();
    await using pipeline = shop.define();
    shop.log.idleUntil = 20;
    const replay = await pipeline.replay({ from: 'earliest', dryRun: true });
    await replay.stop();
    expect((await replay.finished).state).toBe('interrupted');
  });
});

describe('a replay that can not be', () => {
  it.each([
    ['its options are wrong', { from: { time: '2026-01-01' } }, 'REPLAY_CONFIG'],
    ['a time has no zone', { from: { time: '2026-01-01T00:00:00' } }, 'REPLAY_CONFIG'],
    ['it has the name of the pipeline', { from: 'earliest', as: 'shop' }, 'REPLAY_CONFIG'],
    ['its name is none', { from: 'earliest', as: 'Shop!' }, 'REPLAY_CONFIG'],
    ['there is no such handler', { from: 'earliest', handler: 'gone' }, 'REPLAY_CONFIG'],
    ['there is no such bookmark', { from: { bookmark: 'gone' } }, 'REPLAY_BOOKMARK'],
    ['its end lies ahead', { from: 'earliest', to: { position: position(10) } }, 'REPLAY_RANGE'],
    [
      'it ends before it begins',
      { from: { position: position(5) }, to: { bookmark: 'here' } },
      'REPLAY_RANGE',
    ],
    [
      'its times are the wrong way round',
      { from: { time: '2026-01-01T00:00:05Z' }, to: { time: '2026-01-01T00:00:04Z' } },
      'REPLAY_RANGE',
    ],
    ['it begins in another log', { from: { bookmark: 'foreign' } }, 'FOREIGN'],
    ['it ends in another log', { from: 'earliest', to: { bookmark: 'foreign' } }, 'FOREIGN'],
    ['its name is a pipeline of its own', { from: 'earliest', as: 'mails', restart: true }, 'REPLAY_NAME'],
  ] as const)('since %s', async (_, options, code) => {
    const shop = new Shop();
    shop.offsets.bookmarks.at('here', 3);
    shop.offsets.bookmarks.at('foreign', 3, { system: '1' });
    shop.offsets.offsets.set('mails', offsetAt(4));
    await using pipeline = shop.define();
    await expect(pipeline.replay(options)).rejects.toMatchObject({ code });
    expect(shop.log.readers.every(({ closed }) => closed > 0)).toBe(true);
    expect([...shop.offsets.offsets]).toEqual([['mails', offsetAt(4)]]);
  });

  it('since the pipeline was stopped', async () => {
    const pipeline = new Shop().define();
    await pipeline.stop();
    await expect(pipeline.replay({ from: 'earliest' })).rejects.toMatchObject({ code: 'PIPELINE_STATE' });
  });

  it('since the name would be too long', async () => {
    await using pipeline = new Shop().define({ name: 'x'.repeat(45) });
    await expect(pipeline.replay({ from: 'earliest' })).rejects.toMatchObject({ code: 'REPLAY_CONFIG' });
  });
});
