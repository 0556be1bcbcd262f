import { databaseKinds, waitUntil, watchFor } from '@strandline/test-kit';
import { describe, expect, test } from 'vitest';
import { FailingShop } from './failing-shop.js';

const TIMEOUT = 200;

describe.each(databaseKinds)('%s: a handler that takes too long', (kind) => {
  test('has its signal aborted, is reported, and keeps its key; its place is another key’s', async () => {
    await using shop = await FailingShop.open(kind);
    const { history } = shop;
    const aborted: unknown[] = [];
    let letGo: () => void = () => undefined;
    const hangs = new Promise<void>((resolve) => (letGo = resolve));
    let calls = 0;
    shop.before = ({ key }, { signal }) => {
      if (key !== 'a' || (calls += 1) > 1) return undefined;
      signal.addEventListener('abort', () => aborted.push(signal.reason));
      // It does not heed its signal.
      return hangs.then(() => {
        throw new Error('and fails in the end');
      });
    };
    const pipeline = await shop.start({
      concurrency: 1,
      handlerTimeout: TIMEOUT,
      retry: { initialDelay: 1, maxDelay: 1 },
    });
    const [a1, b2, a3, b4] = await shop.insert('abab');
    // One handler at a time, and yet these are handled: the stuck one takes no place.
    await shop.untilHandled('b', [b2, b4]);
    expect(aborted).toMatchObject([{ code: 'HANDLER_TIMEOUT' }]);
    const [stuck] = pipeline.status().stuckTurns;
    expect(stuck).toMatchObject({ key: 'a', id: a1, attempt: 1 });
    expect(stuck?.age).toBeGreaterThanOrEqual(TIMEOUT);
    expect(pipeline.status()).toMatchObject({ stuck: 1, running: 0 });
    expect(shop.log.lines).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        message: expect.stringContaining('takes too long') as string,
        fields: expect.objectContaining({ key: 'a', id: a1, position: stuck?.position }) as object,
      }),
    );
    await watchFor(2 * TIMEOUT, 'no second handler of the key starts', () => history.ofKey('a').length === 1);
    await waitUntil('its age grows', () => (pipeline.status().stuckTurns[0]?.age ?? 0) >= 3 * TIMEOUT);

    letGo();
    await shop.untilHandled('a', [a1, a3]);
    const story = history.ofKey('a').map(({ what, ids }) => `${what} ${String(ids[0])}`);
    expect(story).toEqual([
      ...[
        `started ${String(a1)}`,
        `failed ${String(a1)}`,
        `started ${String(a1)}`,
        `succeeded ${String(a1)}`,
      ],
      ...[`started ${String(a3)}`, `succeeded ${String(a3)}`],
    ]);
    expect(pipeline.status()).toMatchObject({ stuck: 0, stuckTurns: [] });
  });

  test('and heeds its signal is tried again like one that failed, and parked when no retry helps', async () => {
    await using shop = await FailingShop.open(kind);
    shop.before = ({ key }, { signal }) => {
      if (key !== 'a') return undefined;
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      });
    };
    await shop.start({ handlerTimeout: 50, retry: { attempts: 2, initialDelay: 1, maxDelay: 1 } });
    const [a1, a2, b3] = await shop.insert('aab');
    await shop.untilHandled('b', [b3]);
    await shop.untilWaiting('a', [a1, a2]);
    const [head] = await shop.all({ key: 'a' });
    expect(head?.failure).toMatchObject({ attempts: 2, error: { code: 'HANDLER_TIMEOUT' } });
  });

  test('and is run from the dead-letter table has the same limit', async () => {
    await using shop = await FailingShop.open(kind);
    shop.broken.add('a');
    await shop.start({ handlerTimeout: 50, retry: { attempts: 1 } });
    const [a1, a2] = await shop.insert('aa');
    await shop.untilWaiting('a', [a1, a2]);
    shop.broken.clear();
    shop.before = ({ id }, { signal }) =>
      id !== a2
        ? undefined
        : new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              reject(signal.reason as Error);
            });
          });
    await shop.operator.retry('shop', {});
    await shop.untilWaiting('a', [a2]);
    await waitUntil(
      'it has failed',
      async () =>
        (await shop.all({ key: 'a', state: 'waiting' }))[0]?.failure?.error.code === 'HANDLER_TIMEOUT',
    );
    expect(shop.handled('a')).toEqual([a1]);
  });
});
