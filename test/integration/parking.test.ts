import {
  databaseKinds,
  TcpProxy,
  testDatabase,
  testMysqlDatabase,
  testOutbox,
  waitUntil,
  watchFor,
  type DatabaseKind,
} from '@strandline/test-kit';
import { deadLetters, PermanentError } from 'strandline';
import { describe, expect, test } from 'vitest';
import { FailingShop, lettersIn } from './failing-shop.js';

/** A database that is not the outbox's: of the other make. */
async function elsewhere(kind: DatabaseKind): Promise<{ readonly url: string } & AsyncDisposable> {
  return kind === 'postgres' ? testMysqlDatabase('mysql') : testDatabase();
}

describe.each(databaseKinds)('%s: an event that no retry can help', (kind) => {
  test('is parked by default, in full, and what follows of its key behind it; other keys go on', async () => {
    await using shop = await FailingShop.open(kind);
    const { history } = shop;
    shop.before = ({ key }) => {
      if (key === 'a') throw new PermanentError('no stock', { cause: new Error('the shelf is empty') });
      return undefined;
    };
    const pipeline = await shop.start();
    const payload = '{"text": "störung 🦀", "n": 12345678901234567890}';
    const [a1, b2, a3, b4] = await shop.outbox.insert([
      { key: 'a', payload },
      { key: 'b' },
      { key: 'a' },
      { key: 'b' },
    ]);
    await shop.untilHandled('b', [b2, b4]);
    await shop.untilWaiting('a', [a1, a3]);
    await waitUntil('all is settled', () => pipeline.status().unsettled === 0);
    await waitUntil('and saved', () => pipeline.status().unsaved === 0);
    expect(history.ids('started')).toEqual([a1, b2, b4].toSorted((x, y) => Number(x) - Number(y)));

    const [head, follower] = await shop.all({ key: 'a' });
    expect(head).toMatchObject({
      reason: 'failed',
      state: 'waiting',
      event: { id: a1, key: 'a', position: history.ofKey('a')[0]?.positions[0] },
      failure: { attempts: 1, error: { name: 'PermanentError', message: 'no stock' } },
    });
    expect(head?.event.payloadText).toContain('störung 🦀');
    expect(head?.event.payloadText).toContain('12345678901234567890');
    expect(head?.event.transaction.commitTime).toMatch(/^20\d\d-.*Z$/);
    expect(head?.failure?.error.stack).toContain('caused by Error: the shelf is empty');
    expect(follower).toMatchObject({ reason: 'behind', state: 'waiting', failure: null });
    expect(Number(follower?.place)).toBeGreaterThan(Number(head?.place));
    expect(pipeline.status()).toMatchObject({ parked: 1, halted: 0 });
  });

  test('is parked in another database as well', async () => {
    await using database = await elsewhere(kind);
    await using outbox = await testOutbox(kind);
    await using shop = new FailingShop(outbox, lettersIn(database.url));
    shop.broken.add('a');
    await shop.start();
    const [a1, b2, a3] = await shop.insert('aba');
    await shop.untilHandled('b', [b2]);
    await shop.untilWaiting('a', [a1, a3]);
    shop.broken.clear();
    await shop.operator.retry('shop', {});
    await shop.untilHandled('a', [a1, a3]);
  });

  test('keeps its key parked over restarts: what follows goes to the table, and is not handled', async () => {
    await using shop = await FailingShop.open(kind);
    shop.broken.add('a');
    const first = await shop.start();
    const [a1] = await shop.insert('a');
    await shop.untilWaiting('a', [a1]);
    await first.stop();
    const [a2, b3] = await shop.insert('ab');
    shop.broken.clear();
    const second = await shop.start();
    await shop.untilHandled('b', [b3]);
    await shop.untilWaiting('a', [a1, a2]);
    expect(second.status()).toMatchObject({ parked: 1 });
    expect(shop.handled('a')).toEqual([]);
  });

  test('with halt stops its key and holds the log; other keys go on, and a restart tries again', async () => {
    await using shop = await FailingShop.open(kind);
    shop.broken.add('a');
    const first = await shop.start({ onFailure: 'halt' });
    const [b0, a1, a2, b3] = await shop.insert('baab');
    await shop.untilHandled('b', [b0, b3]);
    await waitUntil('the key is halted', () => first.status().halted === 1);
    expect(await shop.all({})).toEqual([]);
    await first.stop();
    shop.broken.clear();
    await shop.start({ onFailure: 'halt' });
    await shop.untilHandled('a', [a1, a2]);
    expect(shop.handled('a')).toEqual([a1, a2]);
    expect(shop.handled('b')).toEqual([b0, b3]);
  });

  test('with skip is kept alone, and the next of its key is handled', async () => {
    await using shop = await FailingShop.open(kind);
    const pipeline = await shop.start({ onFailure: 'skip' });
    shop.before = ({ key }, { log }) => {
      if (key === 'a' && shop.broken.size === 0) {
        shop.broken.add('used');
        log.info({}, 'the first one fails');
        throw new PermanentError('this one only');
      }
      return undefined;
    };
    const [a1, a2, a3] = await shop.insert('aaa');
    await shop.untilHandled('a', [a2, a3]);
    const letters = await shop.all({});
    expect(letters.map(({ event, state, reason }) => [event.id, state, reason])).toEqual([
      [a1, 'skipped', 'failed'],
    ]);
    await waitUntil('all is settled', () => pipeline.status().unsettled === 0);
    expect(pipeline.status()).toMatchObject({ parked: 0, halted: 0 });
  });
});

describe.each(databaseKinds)('%s: the dead-letter table', (kind) => {
  test('that is away holds the keys that need it, and says so; others go on; what it holds is stored when it is back', async () => {
    await using outbox = await testOutbox(kind);
    await using proxy = await TcpProxy.start(outbox.url);
    await using shop = new FailingShop(outbox, lettersIn(outbox.url));
    shop.broken.add('a');
    const far = deadLetters({ ...lettersIn(proxy.url), statementTimeout: 500, connectTimeout: 500 });
    const pipeline = await shop.start({ deadLetters: far });
    proxy.freeze();
    proxy.freezeNewOnes();
    const [a1, b2, a3, b4] = await shop.insert('abab');
    await shop.untilHandled('b', [b2, b4]);
    await waitUntil('it is said', () => !pipeline.status().lettersAvailable);
    expect(shop.log.has('the dead-letter table is away')).toBe(true);
    await watchFor(300, 'nothing of the key is settled or handled', () => {
      const { unsettled } = pipeline.status();
      return unsettled === 2 && shop.handled('a').length === 0;
    });
    expect(await shop.all({})).toEqual([]);

    proxy.thaw();
    await shop.untilWaiting('a', [a1, a3]);
    await waitUntil('all is settled', () => pipeline.status().unsettled === 0);
    expect(pipeline.status().lettersAvailable).toBe(true);
    expect(shop.log.has('the dead-letter table is back')).toBe(true);
  });

  test('that is full halts the key that needs it, and no other', async () => {
    await using shop = await FailingShop.open(kind);
    shop.broken.add('a').add('b');
    const limits = { perKey: 2, inAll: 3 };
    const pipeline = await shop.start({ parking: { poll: 20, limits } });
    const [a1, a2, a3] = await shop.outbox.insert([{ key: 'a' }, { key: 'a' }, { key: 'a' }]);
    await shop.untilWaiting('a', [a1, a2]);
    const [b4] = await shop.insert('b');
    await shop.untilWaiting('b', [b4]);
    const [b5, c6, c7] = await shop.insert('bcc');
    await shop.untilHandled('c', [c6, c7]);
    await waitUntil('it is seen', () => pipeline.status().fullKeys.length === 2);
    expect(pipeline.status()).toMatchObject({ unsettled: 2, state: 'running', fullKeys: ['a', 'b'] });
    expect(shop.log.count('the dead-letter table is full')).toBe(2);

    // Somebody makes room.
    await shop.operator.discard('shop', 'a');
    await waitUntil(
      'the rest of the other key is stored',
      async () => (await shop.waiting('b')).length === 2,
    );
    expect(await shop.waiting('b')).toEqual([b4, b5]);
    // It was live again, or released from the table: a release is over when its failure is stored.
    await shop.untilFailed('a', [a3]);
    shop.broken.clear();
    await shop.operator.retry('shop', {});
    await shop.untilHandled('b', [b4, b5]);
    await shop.untilHandled('a', [a3]);
    expect(shop.handled('a')).toEqual([a3]);
    await waitUntil('nothing is parked', () => pipeline.status().parked === 0);
    expect(pipeline.status()).toMatchObject({ unsettled: 0, fullKeys: [] });
  });
});
