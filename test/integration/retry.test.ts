import { databaseKinds, waitUntil } from '@strandline/test-kit';
import { PermanentError } from 'strandline';
import { describe, expect, test } from 'vitest';
import { FailingShop } from './failing-shop.js';

class Busy extends Error {}

describe.each(databaseKinds)('%s: a failed event is tried again', (kind) => {
  test('as the head of its key: what follows waits, others go on, and its backoff takes no place of theirs', async () => {
    await using shop = await FailingShop.open(kind);
    const { history } = shop;
    let isBusy = true;
    shop.before = ({ key }) => {
      if (key === 'a' && isBusy) throw new Busy('not yet');
      return undefined;
    };
    const pipeline = await shop.start({
      concurrency: 1,
      retry: { attempts: Infinity, initialDelay: 150, maxDelay: 150, jitter: 'none' },
    });
    const [a1, a2, b3, b4, a5, b6] = await shop.insert('aabbab');
    await shop.untilHandled('b', [b3, b4, b6]);
    await history.until('a was tried again and again', () => history.ofKey('a').length >= 6);
    expect(pipeline.status()).toMatchObject({ backoff: 1, running: 0 });
    expect(new Set(history.ofKey('a').flatMap(({ ids }) => ids))).toEqual(new Set([a1]));

    isBusy = false;
    await shop.untilHandled('a', [a1, a2, a5]);
    expect(shop.handled('a')).toEqual([a1, a2, a5]);
    const attempts = history.ofKey('a').map(({ attempt }) => attempt);
    expect(attempts.slice(0, 6)).toEqual([1, 1, 2, 2, 3, 3]);
  });

  test('up to the attempts that were allowed; each waits longer, by chance, up to the cap', async () => {
    await using shop = await FailingShop.open(kind);
    const { history } = shop;
    shop.before = ({ key }) => {
      if (key === 'a') throw new Busy('still');
      return undefined;
    };
    await shop.start({ retry: { attempts: 4, initialDelay: 30, maxDelay: 60, factor: 10, jitter: 'none' } });
    const [a1, a2] = await shop.insert('aa');
    await shop.untilWaiting('a', [a1, a2]);
    const starts = history.ofKey('a').filter(({ what }) => what === 'started');
    expect(starts.map(({ ids, attempt }) => [ids[0], attempt])).toEqual([1, 2, 3, 4].map((n) => [a1, n]));
    const gaps = starts.slice(1).map(({ at }, n) => at - (starts[n]?.at ?? NaN));
    // Timers may fire a millisecond early by the wall clock.
    expect(gaps[0]).toBeGreaterThanOrEqual(29);
    for (const gap of gaps.slice(1)) expect(gap).toBeGreaterThanOrEqual(58);
    expect(gaps[0]).toBeLessThan(10 * 30);
    const [letter] = await shop.all({ key: 'a' });
    expect(letter).toMatchObject({ reason: 'failed', failure: { attempts: 4, error: { message: 'still' } } });
    const { history: told, firstFailedAt, lastFailedAt } = letter?.failure ?? {};
    const error = { name: 'Error', code: null, message: 'still' };
    expect(told).toEqual([{ first: 1, last: 4, firstFailedAt, lastFailedAt, error }]);
  });

  test('for no longer than maxElapsed', async () => {
    await using shop = await FailingShop.open(kind);
    shop.before = () => {
      throw new Busy('for ever');
    };
    const began = Date.now();
    await shop.start({ retry: { attempts: Infinity, maxElapsed: 300, initialDelay: 20, maxDelay: 20 } });
    const [a1] = await shop.insert('a');
    await shop.untilWaiting('a', [a1]);
    expect(Date.now() - began).toBeGreaterThanOrEqual(200);
    const [letter] = await shop.all({ key: 'a' });
    expect(letter?.failure?.attempts).toBeGreaterThan(3);
    const { firstFailedAt = '', lastFailedAt = '' } = letter?.failure ?? {};
    // The last attempt but one failed within that time; how long a busy machine then takes to the last one is its own affair.
    const failures = shop.history.ofKey('a').filter(({ what }) => what === 'failed');
    const lastGap = (failures.at(-1)?.at ?? NaN) - (failures.at(-2)?.at ?? NaN);
    const elapsed = Date.parse(lastFailedAt) - Date.parse(firstFailedAt);
    expect(elapsed).toBeGreaterThanOrEqual(299);
    expect(elapsed - lastGap).toBeLessThanOrEqual(310);
  });

  test('unless its error says that it is permanent, or the policy that it is not retryable', async () => {
    await using shop = await FailingShop.open(kind);
    const { history } = shop;
    let tries = 0;
    shop.before = ({ key }) => {
      if (key === 'a') throw new PermanentError('never');
      if (key === 'b') throw new SyntaxError('nor this');
      if (key === 'c') {
        tries += 1;
        if (tries < 3) throw new Busy('a moment');
      }
      return undefined;
    };
    await shop.start({
      retry: { initialDelay: 1, maxDelay: 1, retryable: (error) => error instanceof Busy },
    });
    const [a1, b2, c3] = await shop.insert('abc');
    await shop.untilHandled('c', [c3]);
    await shop.untilWaiting('a', [a1]);
    await shop.untilWaiting('b', [b2]);
    expect(history.ofKey('a').map(({ what }) => what)).toEqual(['started', 'failed']);
    expect(history.ofKey('b').map(({ what }) => what)).toEqual(['started', 'failed']);
    expect(history.ids('started').filter((id) => id === c3).length).toBe(3);
  });

  test('no earlier than its handler says with ctx.retryAfter', async () => {
    await using shop = await FailingShop.open(kind);
    const { history } = shop;
    shop.before = (_, ctx) => {
      if (ctx.attempt > 1) return undefined;
      ctx.retryAfter(400);
      throw new Busy('429');
    };
    await shop.start({ retry: { initialDelay: 1, maxDelay: 1 } });
    const [a1] = await shop.insert('a');
    await shop.untilHandled('a', [a1]);
    const [failed, again] = history.ofKey('a').slice(1);
    expect((again?.at ?? NaN) - (failed?.at ?? NaN)).toBeGreaterThanOrEqual(398);
  });

  test('with one idempotency key for all attempts and deliveries', async () => {
    await using shop = await FailingShop.open(kind);
    const keys: string[] = [];
    shop.before = ({ key }, ctx) => {
      if (key === 'a') keys.push(ctx.idempotencyKey);
      if (key === 'a' && keys.length < 3) throw new Busy('again');
      if (key === 'a' && keys.length === 3) throw new PermanentError('parked');
      return undefined;
    };
    await shop.start({ retry: { initialDelay: 1, maxDelay: 1 } });
    const [a1] = await shop.insert('a');
    await shop.untilWaiting('a', [a1]);
    await shop.operator.retry('shop', {});
    await shop.untilHandled('a', [a1]);
    await waitUntil('it is live again', async () => (await shop.operator.counts('shop')).keys === 0);
    expect(keys.length).toBe(4);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toContain(`/${String(a1)}`);
  });
});
