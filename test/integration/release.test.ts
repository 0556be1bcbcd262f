import { databaseKinds, waitUntil } from '@strandline/test-kit';
import { describe, expect, test } from 'vitest';
import { FailingShop, NAME } from './failing-shop.js';

describe.each(databaseKinds)('%s: a parked key', (kind) => {
  test('that is released from another process runs its letters in order, then what came meanwhile, and is live again', async () => {
    await using shop = await FailingShop.open(kind);
    shop.broken.add('a');
    const pipeline = await shop.start();
    const [a1, a2, b3] = await shop.insert('aab');
    await shop.untilHandled('b', [b3]);
    await shop.untilWaiting('a', [a1, a2]);

    shop.broken.clear();
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    shop.before = ({ id }) => (id === a1 ? gate : undefined);
    expect(await shop.operator.retry(NAME, { key: 'a' })).toEqual(['a']);
    await shop.history.until('its head runs', () => shop.history.isRunning('a', 1));
    expect(pipeline.status().releasing).toEqual(['a']);
    const [a4, b5] = await shop.insert('ab');
    await shop.untilHandled('b', [b3, b5]);
    await shop.untilWaiting('a', [a1, a2, a4]);
    letGo();
    await shop.untilHandled('a', [a1, a2, a4]);
    await waitUntil('it is live again', () => pipeline.status().parked === 0);
    const [a6] = await shop.insert('a');
    await shop.untilHandled('a', [a1, a2, a4, a6]);
    expect(shop.handled('a')).toEqual([a1, a2, a4, a6]);
    expect(await shop.operator.counts(NAME)).toEqual({ keys: 0, waiting: 0, skipped: 0 });
  });

  test('whose letter fails again is parked at the same place', async () => {
    await using shop = await FailingShop.open(kind);
    shop.broken.add('a');
    const pipeline = await shop.start();
    const [a1, a2, a3] = await shop.insert('aaa');
    await shop.untilWaiting('a', [a1, a2, a3]);
    const places = (await shop.all({})).map(({ place }) => place);
    shop.broken.clear();
    shop.broken.add(a2 ?? '');
    await shop.operator.retry(NAME, {});
    await waitUntil('it has failed again', async () => (await shop.all({}))[1]?.failure?.attempts === 1);
    const [a4] = await shop.insert('a');
    await shop.untilWaiting('a', [a2, a3, a4]);
    expect((await shop.all({ state: 'waiting' })).slice(0, 2).map(({ place }) => place)).toEqual(
      places.slice(1),
    );
    expect(pipeline.status()).toMatchObject({ parked: 1, releasing: [] });
    expect(shop.handled('a')).toEqual([a1]);
    shop.broken.clear();
    await shop.operator.retry(NAME, {});
    await shop.untilHandled('a', [a1, a2, a3, a4]);
    expect(shop.handled('a')).toEqual([a1, a2, a3, a4]);
  });

  test('goes on without its head when that is skipped, and without all when they are discarded', async () => {
    await using shop = await FailingShop.open(kind);
    shop.broken.add('a').add('b');
    const pipeline = await shop.start();
    const [a1, b2, a3, b4, a5] = await shop.insert('ababa');
    await shop.untilWaiting('a', [a1, a3, a5]);
    await shop.untilWaiting('b', [b2, b4]);
    shop.broken.clear();
    expect((await shop.operator.skipHead(NAME, 'a'))?.event.id).toBe(a1);
    await shop.untilHandled('a', [a3, a5]);
    expect(await shop.operator.discard(NAME, 'b')).toBe(2);
    await waitUntil('both are live again', () => pipeline.status().parked === 0);
    const [b6, a7] = await shop.insert('ba');
    await shop.untilHandled('b', [b6]);
    await shop.untilHandled('a', [a3, a5, a7]);
    expect(shop.handled('b')).toEqual([b6]);
    // What was skipped can be put back: behind what its key has.
    expect(await shop.operator.retry(NAME, { state: 'skipped' })).toEqual(['a']);
    await shop.untilHandled('a', [a3, a5, a7, a1]);
  });

  test('is chosen by key, type, error or age of its letters', async () => {
    await using shop = await FailingShop.open(kind);
    shop.broken.add('a').add('b');
    await shop.start();
    const [a1, b2] = await shop.insert('ab');
    await shop.untilWaiting('a', [a1]);
    await shop.untilWaiting('b', [b2]);
    const { operator } = shop;
    expect(await operator.retry(NAME, { key: 'c' })).toEqual([]);
    expect(await operator.retry(NAME, { type: 'of no event' })).toEqual([]);
    expect(await operator.retry(NAME, { error: 'no such error' })).toEqual([]);
    expect(await operator.retry(NAME, { olderThan: 3_600_000 })).toEqual([]);
    shop.broken.clear();
    expect(await operator.retry(NAME, { error: 'no stock of b', olderThan: 0 })).toEqual(['b']);
    await shop.untilHandled('b', [b2]);
    expect(await shop.waiting('a')).toEqual([a1]);
  });

  test('is released by the pipeline’s own desk, and by its schedule with a backoff', async () => {
    await using shop = await FailingShop.open(kind);
    shop.broken.add('a').add('b');
    const first = await shop.start();
    const [a1] = await shop.insert('a');
    await shop.untilWaiting('a', [a1]);
    shop.broken.delete('a');
    expect(await first.deadLetters?.retry()).toEqual(['a']);
    await shop.untilHandled('a', [a1]);
    await first.stop();

    const second = await shop.start({
      parking: { poll: 20, schedule: { initialDelay: 150, maxDelay: 300 } },
      retry: { attempts: 1 },
    });
    const [b2, b3] = await shop.insert('bb');
    await shop.history.until('b was tried four times', () => shop.history.ofKey('b').length >= 8);
    const tries = shop.history.ofKey('b').filter(({ what }) => what === 'started');
    const gaps = tries.slice(1).map(({ at }, n) => at - (tries[n]?.at ?? NaN));
    expect(gaps[0]).toBeGreaterThanOrEqual(149);
    for (const gap of gaps.slice(1)) expect(gap).toBeGreaterThanOrEqual(298);
    expect(new Set(tries.flatMap(({ ids }) => ids))).toEqual(new Set([b2]));
    shop.broken.clear();
    await shop.untilHandled('b', [b2, b3]);
    expect(second.status().state).toBe('running');
  });

  test('that is being worked off when the pipeline stops goes on where it was', async () => {
    await using shop = await FailingShop.open(kind);
    shop.broken.add('a');
    const first = await shop.start();
    const ids = await shop.insert('aaaaaa');
    await shop.untilWaiting('a', ids);
    shop.broken.clear();
    let stopped: Promise<void> | undefined;
    shop.before = ({ id }) => {
      if (id === ids[2]) stopped = first.stop();
      return undefined;
    };
    await shop.operator.retry(NAME, {});
    await shop.history.until('it stops', () => stopped !== undefined);
    await stopped;
    expect(shop.handled('a')).toEqual(ids.slice(0, 3));
    await shop.start();
    await shop.untilHandled('a', ids);
    expect(shop.handled('a')).toEqual(ids);
  });

  test('has its letters worked off beside concurrency, and several keys at once', async () => {
    await using shop = await FailingShop.open(kind);
    for (const key of 'abc') shop.broken.add(key);
    await shop.start({ concurrency: 1, parking: { poll: 20, concurrency: 3 } });
    const ids = await shop.insert('abc');
    for (const [n, key] of ['a', 'b', 'c'].entries()) await shop.untilWaiting(key, [ids[n]]);
    shop.broken.clear();
    const running = new Set<string>();
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    shop.before = ({ key }) => {
      running.add(key);
      return key === 'd' ? undefined : gate;
    };
    await shop.operator.retry(NAME, {});
    await waitUntil('all three run', () => running.size === 3);
    const [d4] = await shop.insert('d');
    await shop.untilHandled('d', [d4]);
    letGo();
    for (const [n, key] of ['a', 'b', 'c'].entries()) await shop.untilHandled(key, [ids[n]]);
  });
});
