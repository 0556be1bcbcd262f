import { databaseKinds } from '@strandline/test-kit';
import { describe, expect, test } from 'vitest';
import {
  context,
  increment,
  InboxDatabase,
  outboxEvent,
  type BatchHandle,
  type TestBatchEffect,
} from './inbox-database.js';

const events = (...ids: readonly string[]) => ids.map((id) => outboxEvent(id));

/** An effect that counts each event, and tells what it was given. */
function batches(db: InboxDatabase): { readonly given: string[][]; readonly effect: TestBatchEffect } {
  const given: string[][] = [];
  const one = increment(db.isPostgres);
  return {
    given,
    effect: async (tx, batch, ctx) => {
      given.push(batch.map(({ id }) => id));
      for (const event of batch) await one(tx, event, ctx);
    },
  };
}

describe.each(databaseKinds)('%s: an inbox of batches', (kind) => {
  test('gives the effect what is not recorded yet, in order, and nothing when all is', async () => {
    await using db = await InboxDatabase.create(kind);
    const { given, effect } = batches(db);
    const handle = db.batchHandler(effect);
    await handle(events('1', '2', '3'), context());
    await handle(events('2', '3', '4', '5'), context());
    await handle(events('3', '5'), context());
    await handle(events('7', '1', '6'), context());
    expect(given).toEqual([
      ['1', '2', '3'],
      ['4', '5'],
      ['7', '6'],
    ]);
    expect([await db.counter('k'), await db.records()]).toEqual([7, 7]);
  });

  test('is one transaction: when it fails, none of it has taken place', async () => {
    await using db = await InboxDatabase.create(kind);
    const { given, effect } = batches(db);
    const failure = new Error('no');
    let failing = true;
    const handle: BatchHandle = db.batchHandler(async (tx, batch, ctx) => {
      await effect(tx, batch, ctx);
      if (failing) throw failure;
    });
    await expect(handle(events('1', '2'), context())).rejects.toBe(failure);
    expect([await db.counter('k'), await db.records()]).toEqual([0, 0]);
    failing = false;
    await handle(events('1'), context());
    await handle(events('1', '2', '3'), context());
    expect(given).toEqual([['1', '2'], ['1'], ['2', '3']]);
    expect(await db.counter('k')).toBe(3);
  });

  test('takes an id that comes twice in it once', async () => {
    await using db = await InboxDatabase.create(kind);
    const { given, effect } = batches(db);
    await db.batchHandler(effect)(events('1', '2', '1'), context());
    expect(given).toEqual([['1', '2']]);
  });

  test('takes as many events as a batch may have', async () => {
    await using db = await InboxDatabase.create(kind);
    let given: readonly string[] = [];
    const handle = db.batchHandler((_, batch) => {
      given = batch.map(({ id }) => id);
    });
    const ids = Array.from({ length: 5_000 }, (_, n) => String(n));
    await handle(events(...ids.slice(1_500, 1_502)), context());
    await handle(events(...ids), context());
    expect(given).toEqual(ids.filter((id) => id !== '1500' && id !== '1501'));
    expect(await db.records()).toBe(5_000);
  });

  test('and another one that overlaps it, at the same time: each event once', async () => {
    await using db = await InboxDatabase.create(kind);
    const { given, effect } = batches(db);
    const [one, other] = [db.batchHandler(effect), db.batchHandler(effect)];
    await one(events('0'), context());
    const ids = Array.from({ length: 40 }, (_, n) => String(n + 1));
    await Promise.all([
      one(events(...ids.slice(0, 30)), context()),
      other(events(...ids.slice(10)), context()),
    ]);
    expect(given.flat().toSorted((a, b) => Number(a) - Number(b))).toEqual(['0', ...ids]);
    expect(await db.counter('k')).toBe(41);
  });
});
