import { PermanentError } from '@strandline/core';
import { databaseKinds } from '@strandline/test-kit';
import type { PoolClient } from 'pg';
import { describe, expect, test } from 'vitest';
import {
  context,
  increment,
  InboxDatabase,
  outboxEvent,
  type Handle,
  type TestEffect,
  type Tx,
} from './inbox-database.js';

const event = outboxEvent('1');

function gate(): { readonly promise: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    promise,
    open: () => {
      open();
    },
  };
}

/** The effect of a test and how often it ran. */
function counted(effect: TestEffect): { readonly effect: TestEffect; runs: number } {
  const counter = {
    runs: 0,
    effect: ((tx, given, ctx) => {
      counter.runs += 1;
      return effect(tx, given, ctx);
    }) as TestEffect,
  };
  return counter;
}

/** What a promise that is expected to fail fails with. */
function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('It was expected to fail.');
    },
    (error: unknown) => error,
  );
}

/** Two transactions that each wait for the other: `effect` is the one that the server ends. */
async function deadlock(db: InboxDatabase, tx: Tx): Promise<void> {
  const other = db.open(1).pool;
  const client = db.wrap(await ('getConnection' in other ? other.getConnection() : other.connect()));
  await client.run('BEGIN');
  // The server ends the transaction that has changed less; the other one of Postgres never looks.
  if (db.isPostgres) await client.run(`SET LOCAL deadlock_timeout = '1min'`);
  for (let n = 0; n < 20; n += 1)
    await client.run('INSERT INTO counters (k, n) VALUES (?, 0)', [`weight ${String(n)}`]);
  await client.run(`UPDATE counters SET n = n + 1 WHERE k = 'b'`);
  await tx.run(`UPDATE counters SET n = n + 1 WHERE k = 'a'`);
  const theirs = client.run(`UPDATE counters SET n = n + 1 WHERE k = 'a'`);
  await db.untilWaiting();
  try {
    await tx.run(`UPDATE counters SET n = n + 1 WHERE k = 'b'`);
  } finally {
    // Where nothing is left of ours, theirs goes on by itself; otherwise when ours is rolled back.
    void theirs
      .then(() => client.run('ROLLBACK'))
      .finally(() => {
        client.raw.release();
      });
  }
}

describe.each(databaseKinds)('%s: an inbox', (kind) => {
  test('runs an effect once, however often its event comes', async () => {
    await using db = await InboxDatabase.create(kind);
    const seen = counted(increment(db.isPostgres));
    const handle = db.handler(seen.effect);
    for (const attempt of [1, 2, 3]) await handle(event, context({ attempt }));
    await db.handler(seen.effect)(event, context());
    await handle(outboxEvent('2'), context());
    expect(await db.counter('k')).toBe(2);
    expect(await db.records()).toBe(2);
    expect(seen.runs).toBe(2);
  });

  test('whose effect fails leaves neither effect nor record, and passes the error on as it is', async () => {
    await using db = await InboxDatabase.create(kind);
    const failure = new Error('no');
    let failing = true;
    const handle = db.handler(async (tx, ...rest) => {
      await increment(db.isPostgres)(tx, ...rest);
      if (failing) throw failure;
    });
    expect(await failureOf(handle(event, context()))).toBe(failure);
    expect([await db.counter('k'), await db.records()]).toEqual([0, 0]);
    failing = false;
    await handle(event, context());
    await handle(event, context());
    expect([await db.counter('k'), await db.records()]).toEqual([1, 1]);
  });

  test.each([
    ['succeeds: it does not run again', false],
    ['fails: it runs here', true],
  ])('waits while another process is at the event, which %s', async (_, fails) => {
    await using db = await InboxDatabase.create(kind);
    const ended = gate();
    const started = gate();
    const former = db.handler(async (tx, ...rest) => {
      await increment(db.isPostgres)(tx, ...rest);
      started.open();
      await ended.promise;
      if (fails) throw new Error('no');
    });
    const seen = counted(increment(db.isPostgres));
    const handle = db.handler(seen.effect);
    await handle(outboxEvent('0'), context());
    const first = former(event, context()).catch(() => undefined);
    await started.promise;
    const second = handle(event, context());
    await db.untilWaiting();
    expect(seen.runs).toBe(1);
    ended.open();
    await Promise.all([first, second]);
    expect(seen.runs).toBe(fails ? 2 : 1);
    expect(await db.counter('k')).toBe(2);
  });

  test('tells pipelines, tables, names and ids of any text apart', async () => {
    await using db = await InboxDatabase.create(kind);
    const effect = increment(db.isPostgres);
    const handle = db.handler(effect);
    const ids = ['a', 'A', 'a ', '', 'ä', 'a\0', 'x'.repeat(100_000), `${'x'.repeat(100_000)}y`];
    for (const id of ids) await handle(outboxEvent(id), context());
    expect(await db.counter('k')).toBe(ids.length);
    await handle(outboxEvent('a', { table: 'public.other' }), context());
    await handle(outboxEvent('a'), context({ pipeline: 'mails' }));
    await db.handler(effect, { name: 'of-its-own' })(outboxEvent('a'), context());
    expect(await db.counter('k')).toBe(ids.length + 3);
    await db.handler(effect, { name: 'shop' })(outboxEvent('a'), context({ pipeline: 'renamed' }));
    expect(await db.counter('k')).toBe(ids.length + 3);
  });

  describe('whose signal aborts', () => {
    const reason = new Error('the pipeline stops');

    test('before the effect starts does not start it', async () => {
      await using db = await InboxDatabase.create(kind);
      const seen = counted(increment(db.isPostgres));
      const handle = db.handler(seen.effect);
      await handle(outboxEvent('0'), context());
      expect(await failureOf(handle(event, context({ signal: AbortSignal.abort(reason) })))).toBe(reason);
      expect(seen.runs).toBe(1);
      expect(await db.records()).toBe(1);
    });

    test('while it waits for another process waits no longer, and leaves nothing behind', async () => {
      await using db = await InboxDatabase.create(kind);
      const ended = gate();
      const started = gate();
      const former = db.handler(async (tx, ...rest) => {
        await increment(db.isPostgres)(tx, ...rest);
        started.open();
        await ended.promise;
        throw new Error('no');
      });
      const seen = counted(increment(db.isPostgres));
      const handle = db.handler(seen.effect, {}, { max: 1 });
      await handle(outboxEvent('0'), context());
      const first = former(event, context()).catch(() => undefined);
      await started.promise;
      const abort = new AbortController();
      const second = failureOf(handle(event, context({ signal: abort.signal })));
      await db.untilWaiting();
      abort.abort(reason);
      expect(await second).toBe(reason);
      // The pool of one has room again, though the server may not have noticed yet.
      const third = handle(outboxEvent('2', { key: 'other' }), context());
      await third;
      ended.open();
      await first;
      expect([await db.counter('k'), await db.counter('other')]).toEqual([1, 1]);
      await handle(event, context());
      expect(await db.counter('k')).toBe(2);
    });

    test('while it waits for a connection waits no longer, and gives it back when it comes', async () => {
      await using db = await InboxDatabase.create(kind);
      const ended = gate();
      const started = gate();
      const handle = db.handler(
        async (tx, given, ctx) => {
          started.open();
          await ended.promise;
          await increment(db.isPostgres)(tx, given, ctx);
        },
        {},
        { max: 1 },
      );
      const first = handle(event, context());
      await started.promise;
      const abort = new AbortController();
      const second = failureOf(handle(outboxEvent('2'), context({ signal: abort.signal })));
      abort.abort(reason);
      expect(await second).toBe(reason);
      ended.open();
      await first;
      await handle(outboxEvent('3'), context());
      expect(await db.counter('k')).toBe(2);
    });
  });

  describe('whose effect', () => {
    test('meets a deadlock fails with it, and is whole at the next attempt', async () => {
      await using db = await InboxDatabase.create(kind);
      await db.run(`INSERT INTO counters (k, n) VALUES ('a', 0), ('b', 0)`);
      let attempts = 0;
      const handle = db.handler(async (tx, given, ctx) => {
        attempts += 1;
        await increment(db.isPostgres)(tx, given, ctx);
        if (attempts === 1) await deadlock(db, tx);
      });
      expect(await failureOf(handle(event, context()))).toMatchObject({
        code: db.isPostgres ? '40P01' : 'ER_LOCK_DEADLOCK',
      });
      expect([await db.counter('k'), await db.records()]).toEqual([0, 0]);
      await handle(event, context({ attempt: 2 }));
      expect([await db.counter('k'), await db.counter('a'), await db.records()]).toEqual([1, 0, 1]);
    });

    test('swallows an error that ended the transaction is not taken for done, and leaves nothing', async () => {
      await using db = await InboxDatabase.create(kind);
      await db.run(`INSERT INTO counters (k, n) VALUES ('a', 0), ('b', 0)`);
      let attempts = 0;
      const handle = db.handler(async (tx, given, ctx) => {
        attempts += 1;
        if (attempts === 1) await deadlock(db, tx).catch(() => undefined);
        // On MySQL this would commit by itself.
        await Promise.resolve(increment(db.isPostgres)(tx, given, ctx)).catch(() => undefined);
      });
      const failure = await failureOf(handle(event, context()));
      expect(failure).toMatchObject({ code: 'INBOX_ROLLED_BACK', transient: true });
      expect(failure).not.toBeInstanceOf(PermanentError);
      expect([await db.counter('k'), await db.records()]).toEqual([0, 0]);
      await handle(event, context({ attempt: 2 }));
      expect([await db.counter('k'), await db.records()]).toEqual([1, 1]);
    });

    test('swallows an error of one statement: as the server has it', async () => {
      await using db = await InboxDatabase.create(kind);
      await db.run(`INSERT INTO counters (k, n) VALUES ('taken', 0)`);
      const handle = db.handler(async (tx, given, ctx) => {
        await increment(db.isPostgres)(tx, given, ctx);
        await tx.run(`INSERT INTO counters (k, n) VALUES ('taken', 1)`).catch(() => undefined);
      });
      // Postgres gives the transaction up with it, MySQL only the statement.
      if (db.isPostgres)
        expect(await failureOf(handle(event, context()))).toMatchObject({ code: 'INBOX_ROLLED_BACK' });
      else await handle(event, context());
      expect(await db.counter('k')).toBe(db.isPostgres ? 0 : 1);
      expect(await db.records()).toBe(db.isPostgres ? 0 : 1);
    });

    test.each([
      ['commits by itself', 'COMMIT'],
      ['commits and begins anew', 'COMMIT; BEGIN'],
      ['makes a table, where that commits', 'CREATE TABLE made (n INT)'],
    ])('%s is told so, and is not run again', async (_, sql) => {
      await using db = await InboxDatabase.create(kind);
      const handle = db.handler(async (tx, given, ctx) => {
        await increment(db.isPostgres)(tx, given, ctx);
        for (const statement of sql.split('; ')) await tx.run(statement);
        await increment(db.isPostgres)(tx, { ...given, key: 'after' }, ctx);
      });
      if (db.isPostgres && sql.startsWith('CREATE')) {
        await handle(event, context());
        expect(await db.counter('k')).toBe(1);
        return;
      }
      const failure = await failureOf(handle(event, context()));
      expect(failure).toMatchObject({ code: 'INBOX_ENDED' });
      expect(failure).toBeInstanceOf(PermanentError);
      expect(await db.counter('k')).toBe(1);
    });

    test('loses its connection fails, and nothing of it has taken place', async () => {
      await using db = await InboxDatabase.create(kind);
      let attempts = 0;
      const handle = db.handler(
        async (tx, given, ctx) => {
          attempts += 1;
          await increment(db.isPostgres)(tx, given, ctx);
          if (attempts > 1) return;
          await db.endSession(await tx.session());
          await tx.run('SELECT 1');
        },
        {},
        { max: 1 },
      );
      await failureOf(handle(event, context()));
      expect([await db.counter('k'), await db.records()]).toEqual([0, 0]);
      await handle(event, context());
      expect([await db.counter('k'), await db.records()]).toEqual([1, 1]);
    });
  });

  describe('whose connection is lost at COMMIT', () => {
    test('before it took place says that nobody knows; the next attempt runs', async () => {
      await using db = await InboxDatabase.create(kind);
      let attempts = 0;
      const handle = db.handler(async (tx, given, ctx) => {
        attempts += 1;
        await increment(db.isPostgres)(tx, given, ctx);
        if (attempts === 1) losing(tx, 'before');
      });
      expect(await failureOf(handle(event, context()))).toMatchObject({
        code: 'INBOX_COMMIT',
        transient: true,
      });
      await handle(event, context({ attempt: 2 }));
      expect([attempts, await db.counter('k'), await db.records()]).toEqual([2, 1, 1]);
    });

    test('after it took place says the same; the next attempt does not run', async () => {
      await using db = await InboxDatabase.create(kind);
      let attempts = 0;
      const handle = db.handler(async (tx, given, ctx) => {
        attempts += 1;
        await increment(db.isPostgres)(tx, given, ctx);
        losing(tx, 'after');
      });
      expect(await failureOf(handle(event, context()))).toMatchObject({ code: 'INBOX_COMMIT' });
      await handle(event, context({ attempt: 2 }));
      expect([attempts, await db.counter('k'), await db.records()]).toEqual([1, 1, 1]);
    });
  });

  test('gives connections back as they were', async () => {
    await using db = await InboxDatabase.create(kind);
    const { pool } = db.open(1);
    const traces = async (): Promise<unknown> => {
      const raw = await ('getConnection' in pool ? pool.getConnection() : pool.connect());
      try {
        return await db.traces(db.wrap(raw));
      } finally {
        raw.release();
      }
    };
    const fresh = await traces();
    let fail = false;
    const handle: Handle = db.handlerOn(pool, async (tx, given, ctx) => {
      await increment(db.isPostgres)(tx, given, ctx);
      if (fail) throw new Error('no');
    });
    await handle(event, context());
    expect(await traces()).toEqual(fresh);
    await handle(event, context());
    expect(await traces()).toEqual(fresh);
    fail = true;
    await failureOf(handle(outboxEvent('2'), context()));
    expect(await traces()).toEqual(fresh);
  });
});

/** The connection breaks just before its COMMIT reaches the server, or just before the answer is there. */
function losing({ raw }: Tx, when: 'before' | 'after'): void {
  const lost = new Error('read ECONNRESET');
  const connection = raw as unknown as { query: (sql: unknown) => Promise<unknown> };
  const query = connection.query.bind(raw);
  connection.query = async (sql) => {
    if (typeof sql !== 'string' || !sql.endsWith('COMMIT')) return query(sql);
    if (when === 'after') await query(sql);
    if ('connection' in raw && 'destroy' in raw) raw.destroy();
    else (raw as PoolClient & { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    throw lost;
  };
}
