import { randomBytes } from 'node:crypto';
import { databaseKinds } from '@strandline/test-kit';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { context, increment, InboxDatabase, outboxEvent, type Handle } from './inbox-database.js';

const event = outboxEvent('1');

/** The statements that the message of `INBOX_SCHEMA` asks for. */
async function asked(work: Promise<unknown>): Promise<string[]> {
  const error: unknown = await work.then(
    () => null,
    (failure: unknown) => failure,
  );
  expect(error).toMatchObject({ code: 'INBOX_SCHEMA' });
  const [, statements = ''] = /exactly this: (.*);$/.exec((error as Error).message) ?? [];
  return statements.split('; ');
}

describe.each(databaseKinds)('%s: the table of an inbox', (kind) => {
  test('is made at the first use, by whoever comes first', async () => {
    await using db = await InboxDatabase.create(kind);
    const handlers = Array.from({ length: 8 }, () => db.handler(increment(db.isPostgres)));
    await Promise.all(handlers.map((handle, n) => handle(outboxEvent(String(n)), context())));
    expect([await db.counter('k'), await db.records()]).toEqual([8, 8]);
  });

  test('is asked for when it is missing and not to be made; with the statements asked for it works', async () => {
    await using db = await InboxDatabase.create(kind);
    const options = { create: false, table: 'our inbox' };
    const handle = db.handler(increment(db.isPostgres), options);
    const statements = await asked(handle(event, context()));
    expect(await db.counter('k')).toBe(0);
    for (const statement of statements) await db.run(statement);
    for (let n = 0; n < 2; n += 1) await handle(event, context());
    expect(await db.counter('k')).toBe(1);
  });

  test('is asked for by a user who may not make it', async () => {
    await using db = await InboxDatabase.create(kind);
    const url = await db.poorUser();
    const poor = db.handler(increment(db.isPostgres), {}, { url });
    const statements = await asked(poor(event, context()));
    for (const statement of statements) await db.run(statement);
    if (db.isPostgres) await db.run('GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC');
    for (let n = 0; n < 2; n += 1) await poor(event, context());
    expect([await db.counter('k'), await db.records()]).toEqual([1, 1]);
  });

  test('lies in another schema when it is told so, and may have any name', async () => {
    await using db = await InboxDatabase.create(kind);
    const [row] = await db.run(
      'SELECT DATABASE() AS name'.replace('DATABASE', db.isPostgres ? 'current_schema' : 'DATABASE'),
    );
    const options = { table: `${String(row?.['name'])}.In"\`box` };
    for (let n = 0; n < 2; n += 1) await db.handler(increment(db.isPostgres), options)(event, context());
    expect(await db.counter('k')).toBe(1);
    expect(await db.records(db.isPostgres ? '"In""`box"' : '`In"``box`')).toBe(1);
    const nowhere = db.handler(increment(db.isPostgres), { table: 'nowhere.inbox' });
    await asked(nowhere(event, context()));
  });

  test.each([
    ['a missing key', (ddl: string) => ddl.replace(/, PRIMARY KEY \(inbox, event\)/, '')],
    [
      'a key of too much',
      (ddl: string) => ddl.replace('KEY (inbox, event)', 'KEY (inbox, event, recorded_at)'),
    ],
    ['another type', (ddl: string) => ddl.replace(/event (bytea|BINARY\(32\))/, 'event VARCHAR(32)')],
    [
      'a missing column',
      (ddl: string) =>
        ddl
          .replace(/recorded_at (timestamptz|DATETIME\(6\))/, 'at timestamp')
          .replace('inbox, recorded_at', 'inbox'),
    ],
    [
      'what does not roll back',
      (ddl: string) =>
        ddl
          .replace('InnoDB', 'MyISAM')
          .replace('CREATE TABLE', kind === 'postgres' ? 'CREATE UNLOGGED TABLE' : 'CREATE TABLE'),
    ],
  ])('is refused with %s', async (_, change) => {
    await using db = await InboxDatabase.create(kind);
    const [ddl = ''] = await asked(db.handler(increment(db.isPostgres), { create: false })(event, context()));
    expect(change(ddl)).not.toBe(ddl);
    await db.run(change(ddl));
    await asked(db.handler(increment(db.isPostgres))(event, context()));
    expect(await db.counter('k')).toBe(0);
  });

  test('that was dropped is made anew by the next attempt', async () => {
    await using db = await InboxDatabase.create(kind);
    const handle = db.handler(increment(db.isPostgres));
    await handle(event, context());
    await db.run('DROP TABLE strandline_inbox');
    await expect(handle(event, context())).rejects.toBeDefined();
    await handle(event, context());
    expect([await db.counter('k'), await db.records()]).toEqual([2, 1]);
  });

  describe('is pruned', () => {
    const hour = 3_600_000;

    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['performance'] });
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    const hoursAgo = (n: number): string =>
      new Date(Date.now() - n * hour).toISOString().replace('Z', '000Z');

    /** Adds records that are so many hours old. */
    async function addRecords(db: InboxDatabase, inbox: string, ages: readonly number[]): Promise<void> {
      for (const age of ages) {
        const at = db.isPostgres
          ? `statement_timestamp() - interval '${String(age)} hours'`
          : `UTC_TIMESTAMP(6) - INTERVAL ${String(age)} HOUR`;
        await db.run(`INSERT INTO strandline_inbox (inbox, event, recorded_at) VALUES (?, ?, ${at})`, [
          inbox,
          randomBytes(32),
        ]);
      }
    }

    /** The ages of the records in hours. */
    async function ages(db: InboxDatabase, inbox = 'shop'): Promise<number[]> {
      const age = db.isPostgres
        ? `EXTRACT(epoch FROM statement_timestamp() - recorded_at) / 3600`
        : 'TIMESTAMPDIFF(SECOND, recorded_at, UTC_TIMESTAMP(6)) / 3600';
      const rows = await db.run(`SELECT ${age} AS age FROM strandline_inbox WHERE inbox = ?`, [inbox]);
      return rows.map((row) => Math.round(Number(row['age']))).toSorted((a, b) => b - a);
    }

    /** A handler whose table is there, and empty. */
    async function prepare(db: InboxDatabase, kept: number): Promise<Handle> {
      const handle = db.handler(() => undefined, { keep: kept });
      await handle(outboxEvent('first'), context());
      await db.run('DELETE FROM strandline_inbox');
      return handle;
    }

    test('of what is older than all that is not settled and saved, by as much as is kept', async () => {
      await using db = await InboxDatabase.create(kind);
      const handle = await prepare(db, 3 * hour);
      await addRecords(db, 'shop', [30, 11, 9, 2]);
      await addRecords(db, 'mails', [30]);
      // Nothing is known.
      vi.advanceTimersByTime(61_000);
      await handle(outboxEvent('1'), context({ settledBefore: null }));
      expect(await ages(db)).toEqual([30, 11, 9, 2, 0]);
      // What is needed goes back to seven hours, and three before that.
      await handle(outboxEvent('2'), context({ settledBefore: hoursAgo(7) }));
      expect(await ages(db)).toEqual([9, 2, 0, 0]);
      // Once a minute.
      await handle(outboxEvent('3'), context({ settledBefore: hoursAgo(0) }));
      expect(await ages(db)).toEqual([9, 2, 0, 0, 0]);
      vi.advanceTimersByTime(61_000);
      await handle(outboxEvent('4'), context({ settledBefore: hoursAgo(0) }));
      expect(await ages(db)).toEqual([2, 0, 0, 0, 0]);
      expect(await ages(db, 'mails')).toEqual([30]);
    });

    test('never of what is younger than is kept, whatever the clock of the outbox says', async () => {
      await using db = await InboxDatabase.create(kind);
      const handle = await prepare(db, 3 * hour);
      await addRecords(db, 'shop', [4, 2]);
      vi.advanceTimersByTime(61_000);
      await handle(outboxEvent('1'), context({ settledBefore: '2099-01-01T00:00:00.000000Z' }));
      expect(await ages(db)).toEqual([2, 0]);
    });

    test('not right after the start: what was in flight before comes again first', async () => {
      await using db = await InboxDatabase.create(kind);
      const handle = await prepare(db, 3 * hour);
      await addRecords(db, 'shop', [30]);
      vi.advanceTimersByTime(50_000);
      await handle(outboxEvent('1'), context({ settledBefore: hoursAgo(0) }));
      expect(await ages(db)).toEqual([30, 0]);
    });

    test('as fast as it grows, a piece with each turn', async () => {
      await using db = await InboxDatabase.create(kind);
      const handle = await prepare(db, 3 * hour);
      const many = Array.from({ length: 2_100 }, () => `(?, ?, '2020-01-01 00:00:00')`).join(', ');
      await db.run(
        `INSERT INTO strandline_inbox (inbox, event, recorded_at) VALUES ${many}`,
        Array.from({ length: 2_100 }, () => ['shop', randomBytes(32)]).flat(),
      );
      vi.advanceTimersByTime(61_000);
      const left: number[] = [];
      for (const id of ['1', '2', '3', '4']) {
        await handle(outboxEvent(id), context({ settledBefore: hoursAgo(0) }));
        left.push(await db.records());
      }
      expect(left).toEqual([1_099, 98, 3, 4]);
    });
  });
});
