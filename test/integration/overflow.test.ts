import { databaseKinds, waitUntil } from '@strandline/test-kit';
import { describe, expect, test } from 'vitest';
import { FailingShop } from './failing-shop.js';

/** Rows of one key in one transaction, and one of each of some others. */
const HOT = 300;
const OTHERS = ['b', 'c', 'd'];

describe.each(databaseKinds)('%s: a key that has filled its share of the window', (kind) => {
  test('pauses the source by default, and that is visible', async () => {
    await using shop = await FailingShop.open(kind);
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    shop.before = ({ key }) => (key === 'a' ? gate : undefined);
    const pipeline = await shop.start({ maxPerKey: 10 });
    const hot = await shop.outbox.insert(Array.from({ length: HOT }, () => ({ key: 'a' })));
    await waitUntil('it is paused', () => pipeline.status().paused === 'key');
    expect(pipeline.status().unsettled).toBe(10);
    letGo();
    await shop.untilHandled('a', hot);
    expect(shop.handled('a')).toEqual(hot);
    expect(await shop.all({})).toEqual([]);
  });

  test('with park goes through the table, in order, by itself, and the other keys don’t notice', async () => {
    await using shop = await FailingShop.open(kind);
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    shop.before = ({ key }) => (key === 'a' ? gate : undefined);
    const pipeline = await shop.start({
      maxPerKey: 10,
      overflow: 'park',
      // Smaller than what the hot key has: it would stop everything.
      window: { events: 100 },
    });
    const hot = await shop.outbox.insert(Array.from({ length: HOT }, () => ({ key: 'a' })));
    const others = await shop.insert(OTHERS.join(''));
    for (const [n, key] of OTHERS.entries()) await shop.untilHandled(key, [others[n]]);
    await shop.untilWaiting('a', hot.slice(10));
    expect((await shop.all({ key: 'a' })).every(({ reason }) => reason === 'overflow')).toBe(true);
    expect(pipeline.status()).toMatchObject({ unsettled: 10, parked: 1, paused: null });
    letGo();
    await shop.untilHandled('a', hot);
    expect(shop.handled('a')).toEqual(hot);
    await waitUntil('it is live again', () => pipeline.status().parked === 0);
    const [last] = await shop.insert('a');
    await shop.untilHandled('a', [...hot, last]);
  });

  test('whose head fails is parked with it in front, and released in order', async () => {
    await using shop = await FailingShop.open(kind);
    let fail: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (fail = resolve));
    shop.before = ({ key }) => (key === 'a' ? gate : undefined);
    await shop.start({ maxPerKey: 10, overflow: 'park' });
    const hot = await shop.outbox.insert(Array.from({ length: 40 }, () => ({ key: 'a' })));
    await shop.untilWaiting('a', hot.slice(10));
    shop.broken.add('a');
    fail();
    await shop.untilWaiting('a', hot);
    expect(shop.handled('a')).toEqual([]);
    shop.broken.clear();
    await shop.operator.retry('shop', {});
    await shop.untilHandled('a', hot);
    expect(shop.handled('a')).toEqual(hot);
  });
});
