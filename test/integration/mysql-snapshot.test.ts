import { setTimeout as sleep } from 'node:timers/promises';
import type { Offset, OffsetStore, OutboxEvent } from '@strandline/core';
import {
  offsetsWith,
  testMysqlDatabase,
  TestLog,
  waitUntil,
  type TestMysqlDatabase,
} from '@strandline/test-kit';
import type { Connection, PoolConnection, ResultSetHeader } from 'mysql2/promise';
import { definePipeline, memoryOffsets, mysql, type Pipeline } from 'strandline';
import { describe, expect, test } from 'vitest';

const TABLE = `create table outbox (id bigint unsigned auto_increment primary key, k varchar(20) not null,
  payload text, created_at datetime(6) not null default current_timestamp(6))`;

interface Setup {
  readonly db: TestMysqlDatabase;
  readonly storage?: Map<string, Offset>;
  readonly offsets?: OffsetStore;
  readonly log?: TestLog;
  readonly url?: string;
  readonly outbox?: Partial<Parameters<typeof mysql>[0]['outbox']>;
  readonly handle: (event: OutboxEvent, ctx: { readonly signal: AbortSignal }) => unknown;
}

function snapshotPipeline({ db, storage, offsets, log, url, outbox, handle }: Setup): Pipeline {
  return definePipeline({
    name: db.name,
    source: mysql({
      url: url ?? db.url,
      serverId: db.serverId(),
      start: 'snapshot',
      outbox: { table: 'outbox', id: 'id', key: 'k', payload: 'payload', ...outbox },
    }),
    offsets: offsets ?? memoryOffsets({ storage: storage ?? new Map<string, Offset>() }),
    drainTimeout: 0,
    commitInterval: 10,
    log: log ?? new TestLog(),
    handle,
  });
}

/** Inserts rows of these keys with one statement; they are numbered by the server. */
async function insert(
  sql: Pick<Connection, 'query'>,
  keys: readonly string[],
  payload = '',
): Promise<number> {
  const [result] = await sql.query<ResultSetHeader>('insert into outbox (k, payload) values ?', [
    keys.map((key) => [key, payload]),
  ]);
  return result.insertId;
}

/** A pipeline that handles the rows of these keys, and is ended without a drain while it has the others in hand. */
async function interrupted(
  setup: Omit<Setup, 'handle'> & { readonly storage: Map<string, Offset> },
  keys: readonly string[],
  saved: (offset: Offset | undefined) => boolean,
  during: () => Promise<unknown> = () => Promise.resolve(),
): Promise<string[]> {
  const handled: string[] = [];
  await using pipeline = snapshotPipeline({
    ...setup,
    async handle({ id, key }, { signal }) {
      if (keys.includes(key)) handled.push(id);
      else await sleep(60_000, undefined, { signal });
    },
  });
  await pipeline.start();
  await during();
  await Promise.race([
    waitUntil('the offset is saved', () => saved(setup.storage.get(setup.db.name))),
    pipeline.finished,
  ]);
  return handled;
}

/** All is settled but what the watermark waits for, to this row of the snapshot, or beyond. */
function settledUpTo(...row: readonly (string | undefined)[]): (offset: Offset | undefined) => boolean {
  return (offset) => {
    const [run, other] = offset?.completed ?? [];
    if (run === undefined || other !== undefined || !run.first.startsWith('snapshot:')) return false;
    return run.last === `snapshot:${JSON.stringify(row)}` || !run.last.startsWith('snapshot:');
  };
}

/** Writers that commit one to five rows at a time until they are told to end; some ids are taken early and commit late. */
async function writeUntil(
  db: TestMysqlDatabase,
  ended: () => boolean,
  committed: Set<string>,
): Promise<void> {
  const writer = async (name: string): Promise<void> => {
    const connection = await db.pool.getConnection();
    try {
      for (let turn = 0; !ended(); turn += 1) {
        await connection.beginTransaction();
        const ids: number[] = [];
        for (let row = 0; row <= turn % 5; row += 1) {
          ids.push(await insert(connection, [`${name}-${String(row)}`]));
          await sleep(turn % 3);
        }
        if (turn % 7 === 6) {
          await connection.rollback();
        } else {
          await connection.commit();
          for (const id of ids) committed.add(String(id));
        }
      }
    } finally {
      connection.release();
    }
  };
  await Promise.all(['a', 'b', 'c', 'd'].map(writer));
}

describe.each(['mysql', 'mariadb'] as const)('completeness: a start snapshot of %s', (kind) => {
  test('has no gap to the stream and no overlap with it, while others write', async () => {
    await using db = await testMysqlDatabase(kind);
    await db.pool.query(TABLE);
    const committed = new Set<string>();
    let ended = false;
    const writing = writeUntil(db, () => ended, committed);
    await waitUntil('some rows are there', () => committed.size > 300);
    const events: OutboxEvent[] = [];
    await using pipeline = snapshotPipeline({ db, handle: (event) => void events.push(event) });
    await pipeline.start();
    const atStart = committed.size;
    await waitUntil('more rows came', () => committed.size > atStart + 300);
    ended = true;
    await writing;
    await waitUntil('all are handled', () => new Set(events.map(({ id }) => id)).size >= committed.size);
    const ids = events.map(({ id }) => id);
    expect(ids.length).toBe(new Set(ids).size);
    expect([...ids].sort()).toEqual([...committed].sort());
    const isOfSnapshot = ({ position }: OutboxEvent): boolean => position.startsWith('snapshot:');
    expect(events.filter(isOfSnapshot).length).toBeGreaterThan(100);
    expect(events.filter((event) => !isOfSnapshot(event)).length).toBeGreaterThan(100);
  });

  test('delivers a row once whose transaction was open then, and whose id is smaller than those read', async () => {
    await using db = await testMysqlDatabase(kind);
    await db.pool.query(TABLE);
    const late = await db.pool.getConnection();
    await late.beginTransaction();
    await insert(late, ['late']);
    await insert(db.pool, ['early', 'early']);
    const handled: string[] = [];
    const log = new TestLog();
    await using pipeline = snapshotPipeline({ db, log, handle: ({ id }) => void handled.push(id) });
    const started = pipeline.start();
    // MySQL's lock on the outbox waits for it; MariaDB needs no lock.
    if (kind === 'mysql') await waitUntil('it waits', () => log.has('waits for a transaction'));
    else await waitUntil('the snapshot is read', () => handled.length === 2);
    await late.commit();
    late.release();
    await started;
    await insert(db.pool, ['after']);
    await waitUntil('the last row is handled', () => handled.includes('4'));
    expect([...handled].sort()).toEqual(['1', '2', '3', '4']);
  });

  test('is read on after a crash: rows inserted, updated and deleted between, a slow key holds the watermark', async () => {
    await using db = await testMysqlDatabase(kind);
    await db.pool.query(TABLE);
    await insert(db.pool, ['done', 'slow', 'done', 'done', 'late', 'late']);
    const storage = new Map<string, Offset>();
    const first = await interrupted(
      { db, storage },
      ['done', 'fresh'],
      (offset) => offset?.completed[0]?.last === 'snapshot:["4"]' && offset.watermark === 'snapshot:["1"]',
      () => insert(db.pool, ['fresh', 'late']),
    );
    expect(first.filter((id) => id !== '7')).toEqual(['1', '3', '4']);

    await db.pool.query('delete from outbox where id in (3, 4, 5)');
    await db.pool.query("update outbox set payload = 'changed' where id = 6");
    await db.pool.query("insert into outbox (id, k, payload) values (4, 'slow', 'in the place of another')");
    await insert(db.pool, ['slow']);
    const events: OutboxEvent[] = [];
    await using pipeline = snapshotPipeline({ db, storage, handle: (event) => void events.push(event) });
    await pipeline.start();
    await insert(db.pool, ['last']);
    await waitUntil('the last row is handled', () => events.some(({ key }) => key === 'last'));
    await waitUntil('all are handled', () => new Set(events.map(({ id }) => id)).size >= 6);
    const ofKey = (key: string): string[] => events.filter((event) => event.key === key).map(({ id }) => id);
    expect(ofKey('slow')).toEqual(['2', '4', '9']);
    expect(ofKey('late')).toEqual(['6', '8']);
    expect(ofKey('done')).toEqual([]);
    expect(events.find(({ id }) => id === '6')?.payload).toBe('changed');
  });

  test('of a settled run whose rows are gone, the rows behind it are delivered', async () => {
    await using db = await testMysqlDatabase(kind);
    await db.pool.query(TABLE);
    await insert(db.pool, ['done', 'slow', 'done', 'done', 'late', 'late']);
    const storage = new Map<string, Offset>();
    await interrupted({ db, storage }, ['done'], (offset) => offset?.completed[0]?.last === 'snapshot:["4"]');
    const { watermark, completed: [run] = [] } = storage.get(db.name) ?? {};
    expect({ watermark, run }).toEqual({
      watermark: 'snapshot:["1"]',
      run: { first: 'snapshot:["3"]', last: 'snapshot:["4"]' },
    });
    await db.pool.query('delete from outbox where id in (2, 3, 4)');
    const handled: string[] = [];
    await using pipeline = snapshotPipeline({ db, storage, handle: ({ id }) => void handled.push(id) });
    await pipeline.start();
    await insert(db.pool, ['after']);
    await waitUntil('the new row is handled', () => handled.includes('7'));
    expect(handled).toEqual(['5', '6', '7']);
  });

  test('is read on in pages, in an order of several columns, of which one is binary', async () => {
    await using db = await testMysqlDatabase(kind);
    await db.pool.query(
      'create table outbox (id binary(16) primary key, k varchar(20), payload text, created_at datetime(6))',
    );
    const rows = Array.from({ length: 2_500 }, (_, n) => {
      const id = Buffer.alloc(16);
      // Against the order of time within one moment, and with zero bytes at the end.
      id.writeUInt32BE(10_000 - n, 0);
      return [
        id,
        n === 1_250 ? 'slow' : 'done',
        '',
        `2026-11-30 00:00:00.${String(Math.floor(n / 100)).padStart(6, '0')}`,
      ];
    });
    await db.pool.query('insert into outbox (id, k, payload, created_at) values ?', [rows]);
    const storage = new Map<string, Offset>();
    const setup = { db, storage, outbox: { snapshotOrder: ['created_at'] } };
    const last = settledUpTo(
      '2026-11-30 00:00:00.000024',
      `0x${(7_600).toString(16).padStart(8, '0')}${'00'.repeat(12)}`,
    );
    const first = await interrupted(setup, ['done'], last);
    expect(new Set(first).size).toBe(2_499);
    expect(first.length).toBe(2_499);
    const handled: string[] = [];
    await using pipeline = snapshotPipeline({ ...setup, handle: ({ id }) => void handled.push(id) });
    await pipeline.start();
    await waitUntil('the slow row is handled', () => handled.length > 0);
    expect(handled).toEqual([`0x${(10_000 - 1_250).toString(16).padStart(8, '0')}${'00'.repeat(12)}`]);
  });

  test.each([
    ['varchar(20) collate utf8mb4_bin', (n: number) => `it's ${String(n).padStart(6, '0')} 🌊`],
    ['char(20) character set latin1', (n: number) => `é${String(n).padStart(6, '0')}`],
    ['bigint', (n: number) => String(9_007_199_254_740_992n + BigInt(n))],
    ['decimal(30,5)', (n: number) => `-${String(9_000_000 - n)}.00001`],
    ['timestamp(6)', (n: number) => `2026-10-25 02:00:00.${String(n).padStart(6, '0')}`],
  ])('leaves out nothing and repeats nothing in the order of a %s', async (type, text) => {
    await using db = await testMysqlDatabase(kind);
    await db.pool.query(`create table outbox (id ${type} primary key, k varchar(20), payload text)`);
    const expected = Array.from({ length: 2_001 }, (_, n) => text(n));
    const connection = await db.pool.getConnection();
    await connection.query("set time_zone = '+00:00'");
    const rows = expected.map((id, n) => [id, n === 1_500 ? 'slow' : 'done']);
    await connection.query('insert into outbox (id, k) values ?', [rows]);
    await connection.query('set time_zone = default');
    connection.release();
    const storage = new Map<string, Offset>();
    const setup = { db, storage, outbox: { snapshotOrder: ['id'] } };
    const first = await interrupted(setup, ['done'], settledUpTo(expected.at(-1)));
    const handled: string[] = [];
    await using pipeline = snapshotPipeline({ ...setup, handle: ({ id }) => void handled.push(id) });
    await pipeline.start();
    await waitUntil('the slow row is handled', () => handled.length > 0);
    expect(handled).toEqual([expected[1_500]]);
    expect([...first, ...handled].sort()).toEqual([...expected].sort());
  });

  test('that ended before it was noted is taken again', async () => {
    await using db = await testMysqlDatabase(kind);
    await db.pool.query(TABLE);
    await insert(db.pool, ['a', 'b']);
    const storage = new Map<string, Offset>();
    const store = memoryOffsets({ storage });
    const away = offsetsWith(store, { claim: () => Promise.reject(new Error('the store is away')) });
    const handled: string[] = [];
    const handle = ({ id }: OutboxEvent): unknown => handled.push(id);
    {
      await using failing = snapshotPipeline({ db, offsets: away, handle });
      await expect(failing.start()).rejects.toThrow('the store is away');
    }
    await insert(db.pool, ['c']);
    await using pipeline = snapshotPipeline({ db, storage, handle });
    await pipeline.start();
    await insert(db.pool, ['d']);
    await waitUntil('all are handled', () => handled.length === 4);
    expect([...handled].sort()).toEqual(['1', '2', '3', '4']);
  });

  test('that was noted and not read yet is read in a new one, without what the stream delivers', async () => {
    await using db = await testMysqlDatabase(kind);
    await db.pool.query(TABLE);
    await insert(db.pool, ['slow', 'slow']);
    const storage = new Map<string, Offset>();
    await interrupted({ db, storage }, [], (offset) => offset?.watermark === 'snapshot:start');
    await insert(db.pool, ['slow', 'other']);
    const handled: string[] = [];
    await using pipeline = snapshotPipeline({ db, storage, handle: ({ id }) => void handled.push(id) });
    await pipeline.start();
    await waitUntil('all are handled', () => handled.length >= 4);
    await insert(db.pool, ['last']);
    await waitUntil('the last one is handled', () => handled.includes('5'));
    expect([...handled].sort()).toEqual(['1', '2', '3', '4', '5']);
  });

  test('needs an order', async () => {
    await using db = await testMysqlDatabase(kind);
    const refused = async (columns: string, outbox: Setup['outbox'] = {}): Promise<unknown> => {
      await db.pool.query('drop table if exists outbox');
      await db.pool.query(`create table outbox (${columns}, k varchar(9), payload text)`);
      await using pipeline = snapshotPipeline({ db, outbox, handle: () => undefined });
      return await pipeline.start().then(
        () => 'started',
        (error: unknown) => error,
      );
    };
    const order = { code: 'MYSQL_SNAPSHOT_ORDER' };
    expect(await refused('id varchar(9) primary key')).toMatchObject(order);
    expect(await refused('id int')).toMatchObject(order);
    expect(await refused('id int primary key, d double', { snapshotOrder: ['d'] })).toMatchObject(order);
    expect(await refused('id int primary key, e json', { snapshotOrder: ['e'] })).toMatchObject(order);
    expect(await refused('id int primary key', { snapshotOrder: ['x'] })).toMatchObject({
      code: 'MYSQL_COLUMN_MISSING',
    });
    expect(await refused('id int, other int primary key')).toBe('started');
    expect(await refused('id varchar(9) primary key, n int unique not null', { snapshotOrder: ['N'] })).toBe(
      'started',
    );
  });

  test('a row without a value to order it by stops it', async () => {
    await using db = await testMysqlDatabase(kind);
    await db.pool.query('create table outbox (id int primary key, k varchar(9), payload text, at datetime)');
    await db.pool.query("insert into outbox values (1, 'a', '', now()), (2, 'a', '', null)");
    await using pipeline = snapshotPipeline({
      db,
      outbox: { snapshotOrder: ['at'] },
      handle: () => undefined,
    });
    await expect(pipeline.start().then(() => pipeline.finished)).rejects.toMatchObject({
      code: 'MYSQL_SNAPSHOT_ORDER',
    });
  });

  test('locks no other table, and the outbox for a moment only', async () => {
    await using db = await testMysqlDatabase(kind);
    await db.pool.query(TABLE);
    await db.pool.query('create table orders (id int primary key)');
    const open: PoolConnection = await db.pool.getConnection();
    await open.beginTransaction();
    await insert(open, ['open']);
    const log = new TestLog();
    const handled: string[] = [];
    await using pipeline = snapshotPipeline({ db, log, handle: ({ id }) => void handled.push(id) });
    const started = pipeline.start();
    if (kind === 'mysql') await waitUntil('it waits', () => log.has('waits for a transaction'));
    else await started;
    const since = performance.now();
    await db.pool.query('insert into orders values (1)');
    expect(performance.now() - since).toBeLessThan(500);
    // While one attempt lasts a writer waits with it; in the pauses it does not.
    for (const key of ['x', 'y', 'z']) {
      const before = performance.now();
      await insert(db.pool, [key]);
      expect(performance.now() - before).toBeLessThan(3_000);
      await sleep(300);
    }
    await open.commit();
    open.release();
    await started;
    await waitUntil('all are handled', () => handled.length === 4);
    expect([...handled].sort()).toEqual(['1', '2', '3', '4']);
    expect(log.has('waits for a transaction')).toBe(kind === 'mysql');
  });
});

test('a user who may not lock the outbox of MySQL is told what to grant', async () => {
  await using db = await testMysqlDatabase('mysql');
  await db.pool.query(TABLE);
  const user = `${db.name}_reader`;
  await db.pool.query(`create user ${user} identified by 'reader'`);
  try {
    await db.pool.query(`grant select on ${db.name}.* to ${user}`);
    await db.pool.query(`grant replication slave, replication client, xa_recover_admin on *.* to ${user}`);
    const url = new URL(db.url);
    [url.username, url.password] = [user, 'reader'];
    const refused = snapshotPipeline({ db, url: url.href, handle: () => undefined });
    await expect(refused.start()).rejects.toMatchObject({
      code: 'MYSQL_PRIVILEGE',
      remedy: expect.stringContaining('lock tables') as string,
    });
    await refused.stop();
    await db.pool.query(`grant lock tables on ${db.name}.* to ${user}`);
    const handled: string[] = [];
    await insert(db.pool, ['a']);
    await using pipeline = snapshotPipeline({ db, url: url.href, handle: ({ id }) => void handled.push(id) });
    await pipeline.start();
    await waitUntil('the row is handled', () => handled.length === 1);
  } finally {
    await db.pool.query(`drop user ${user}`);
  }
});
