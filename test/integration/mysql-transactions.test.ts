import { startMariadb, startMysql, type MysqlServer } from '@strandline/servers';
import {
  testMysqlDatabase,
  waitUntil,
  type MysqlServerKind,
  type TestMysqlDatabase,
} from '@strandline/test-kit';
import type { PoolConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bothKinds, Follower, insert, insertMany, numbered, outboxTable, refusal } from './mysql-follower.js';

async function outboxDatabase(kind: MysqlServerKind, server?: string): Promise<TestMysqlDatabase> {
  const db = await testMysqlDatabase(kind, server);
  await db.pool.query(outboxTable);
  return db;
}

async function inSession(
  db: TestMysqlDatabase,
  work: (session: PoolConnection) => Promise<void>,
): Promise<void> {
  const session = await db.pool.getConnection();
  try {
    await work(session);
  } finally {
    // Session settings must not come back with the connection.
    session.destroy();
  }
}

async function each(session: PoolConnection, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await session.query(statement);
}

function serverOf(kind: MysqlServerKind): Promise<MysqlServer> {
  return kind === 'mysql' ? startMysql({ exclusive: true }) : startMariadb({ exclusive: true });
}

/** What is rolled back stays out of the log as a rule. Beside rows of an engine that can't roll back it is in it. */
describe.each(bothKinds)('transactions over two engines: %s', (kind) => {
  let server: MysqlServer;
  beforeAll(async () => {
    // With GTIDs MySQL refuses them.
    const settings = { 'gtid-mode': 'OFF', 'enforce-gtid-consistency': 'OFF' };
    server = kind === 'mysql' ? await startMysql({ settings }) : await startMariadb({ exclusive: true });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('a transaction that is rolled back leaves nothing, also when its log has rows of another engine', async () => {
    await using db = await outboxDatabase(kind, server.url);
    await db.pool.query('CREATE TABLE notes (n int) ENGINE = MyISAM');
    await using follower = await Follower.start(db.url);
    await inSession(db, async (session) => {
      await session.beginTransaction();
      await insert(session, 'plainly rolled back');
      await session.rollback();
      await session.beginTransaction();
      await insert(session, 'rolled back before notes');
      await session.query('INSERT INTO notes VALUES (1)');
      await insert(session, 'rolled back after notes');
      await session.rollback();
      await insert(session, 'committed');
    });
    await follower.untilEvents(1);
    expect(follower.payloads).toEqual(['committed']);
  });

  test('what a rollback to a savepoint takes back is not handed out', async () => {
    await using db = await outboxDatabase(kind, server.url);
    await db.pool.query('CREATE TABLE notes (n int) ENGINE = MyISAM');
    await using follower = await Follower.start(db.url);
    await inSession(db, async (session) => {
      for (const note of ['SELECT 1', 'INSERT INTO notes VALUES (1)']) {
        await session.beginTransaction();
        await insert(session, 'before');
        await session.query('SAVEPOINT `My Point`');
        await session.query(note);
        await insert(session, 'taken back');
        await session.query('SAVEPOINT inner_point');
        await insert(session, 'taken back too');
        await session.query('ROLLBACK TO `my point`');
        await insert(session, 'after');
        await session.commit();
      }
    });
    await follower.untilEvents(4);
    expect(follower.payloads).toEqual(['before', 'after', 'before', 'after']);
    const ordinals = follower.events.map(({ transaction }) => transaction.ordinal);
    expect(ordinals).toEqual([1, 2, 1, 2]);
  });

  test('rollbacks to savepoints within a transaction larger than what is held are heeded', async () => {
    await using db = await outboxDatabase(kind, server.url);
    await db.pool.query('CREATE TABLE notes (n int) ENGINE = MyISAM');
    await using follower = await Follower.start(db.url);
    await inSession(db, async (session) => {
      await session.beginTransaction();
      await insertMany(session, 3_000, 'a');
      await session.query('SAVEPOINT p');
      await session.query('INSERT INTO notes VALUES (1)');
      await insertMany(session, 3_000, 'taken back');
      await session.query('ROLLBACK TO p');
      await insertMany(session, 3_000, 'b');
      await session.commit();
    });
    await follower.untilEvents(6_000);
    expect(follower.payloads).toEqual([...numbered(3_000, 'a'), ...numbered(3_000, 'b')]);
  });
});

describe.each(bothKinds)('only what has committed is handed out: %s', (kind) => {
  test('a transaction larger than what is held comes once, in order, and so does what follows it', async () => {
    await using db = await outboxDatabase(kind);
    await using follower = await Follower.start(db.url);
    await insert(db.pool, 'first');
    await inSession(db, async (session) => {
      await session.beginTransaction();
      await insertMany(session, 50_000);
      await session.commit();
    });
    await insert(db.pool, 'last');
    await inSession(db, async (session) => {
      await session.beginTransaction();
      await insertMany(session, 6_000, 's');
      await session.rollback();
      await session.beginTransaction();
      await insertMany(session, 6_000, 't');
      await session.commit();
    });
    await follower.untilEvents(56_002, 40_000);
    expect(follower.payloads).toEqual(['first', ...numbered(50_000, 'r'), 'last', ...numbered(6_000, 't')]);
  });

  test('of few rows that are large, no more is held than fits', async () => {
    await using db = await outboxDatabase(kind);
    await using follower = await Follower.start(db.url);
    const megabyte = 'x'.repeat(1_000_000);
    await inSession(db, async (session) => {
      await session.beginTransaction();
      for (let n = 0; n < 40; n += 1) await insert(session, `${String(n)} ${megabyte}`);
      await session.commit();
    });
    await follower.untilEvents(40);
    const places = follower.payloads.map((payload) => payload?.split(' ')[0]);
    expect(places).toEqual(Array.from({ length: 40 }, (_, n) => String(n)));
  });

  test('cut in the middle of a large transaction, it goes on behind what was handed out', async () => {
    await using db = await outboxDatabase(kind);
    // The half that is left must not fit into the buffers of the socket: the cut would be noticed behind it.
    const wide = 'r'.repeat(1_000);
    let cut = false;
    await using follower = await Follower.start(db.url, {
      onEvent: async () => {
        if (follower.events.length !== 20_000 || cut) return;
        cut = true;
        expect(await killDump(db)).toBeGreaterThan(0);
      },
    });
    await inSession(db, async (session) => {
      await session.beginTransaction();
      await insertMany(session, 40_000, wide);
      await session.commit();
    });
    await insert(db.pool, 'last');
    await follower.untilEvents(40_001, 40_000);
    expect(cut).toBe(true);
    expect(follower.payloads).toEqual([...numbered(40_000, wide), 'last']);
    expect(follower.log.has('lost the dump')).toBe(true);
  });
});

// On a server of their own: one that is undecided anywhere makes every first start refuse, which other tests do meanwhile.
describe.each(bothKinds)('XA: %s', (kind) => {
  let server: MysqlServer;
  beforeAll(async () => {
    server = await serverOf(kind);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('rows come at XA COMMIT in the order of the commits, and never after XA ROLLBACK', async () => {
    await using db = await outboxDatabase(kind, server.url);
    await using follower = await Follower.start(db.url);
    await prepare(db, 'a', ['a1', 'a2']);
    await prepare(db, 'b', ['b1']);
    await prepare(db, 'dropped', ['never']);
    await insert(db.pool, 'plain');
    await follower.untilEvents(1);
    await decide(db, 'XA COMMIT', 'b');
    await decide(db, 'XA ROLLBACK', 'dropped');
    await decide(db, 'XA COMMIT', 'a');
    await inSession(db, async (session) => {
      await session.query(`XA START ${xid(db, 'one')}`);
      await insert(session, 'one phase');
      await each(session, [`XA END ${xid(db, 'one')}`, `XA COMMIT ${xid(db, 'one')} ONE PHASE`]);
    });
    await follower.untilEvents(5);
    expect(follower.payloads).toEqual(['plain', 'b1', 'a1', 'a2', 'one phase']);
  });

  test('one that is prepared when the pipeline and the server restart loses nothing', async () => {
    await using db = await outboxDatabase(kind, server.url);
    const first = await Follower.start(db.url);
    await insert(db.pool, 'before');
    await prepare(db, 'p', ['p1', 'p2']);
    await insert(db.pool, 'between');
    await first.untilEvents(2);
    await first.stop();
    expect(first.payloads).toEqual(['before', 'between']);
    await db.pool.query('FLUSH BINARY LOGS');
    await insert(db.pool, 'while it was down');
    await server.restart();
    await using second = await Follower.start(db.url, { storage: first.storage });
    await second.untilEvents(1);
    await decide(db, 'XA COMMIT', 'p');
    await insert(db.pool, 'after');
    await second.untilEvents(4);
    expect(second.payloads).toEqual(['while it was down', 'p1', 'p2', 'after']);
    await second.stop();
    // Now that it is decided, nothing holds the place back.
    await using third = await Follower.start(db.url, { storage: first.storage });
    await insert(db.pool, 'last');
    await third.untilEvents(1);
    expect(third.payloads).toEqual(['last']);
  });

  test('one larger than what is held comes at its commit, once, around what else is undecided', async () => {
    await using db = await outboxDatabase(kind, server.url);
    await using follower = await Follower.start(db.url);
    await prepare(db, 'older', ['older']);
    await prepare(db, 'large', numbered(5_000, 'l'));
    await insert(db.pool, 'between');
    await prepare(db, 'newer', ['newer']);
    await inSession(db, async (session) => {
      await session.beginTransaction();
      await insertMany(session, 5_000, 'plain');
      await session.commit();
    });
    await decide(db, 'XA COMMIT', 'large');
    await insert(db.pool, 'behind');
    await decide(db, 'XA COMMIT', 'newer');
    await decide(db, 'XA COMMIT', 'older');
    await follower.untilEvents(10_004);
    const expected = [
      'between',
      ...numbered(5_000, 'plain'),
      ...numbered(5_000, 'l'),
      'behind',
      'newer',
      'older',
    ];
    expect(follower.payloads).toEqual(expected);
    await follower.stop();
    await using next = await Follower.start(db.url, { storage: follower.storage });
    await insert(db.pool, 'last');
    await next.untilEvents(1);
    expect(next.payloads).toEqual(['last']);
  });

  test('a dump that is cut while one is undecided hands nothing out twice', async () => {
    await using db = await outboxDatabase(kind, server.url);
    await using follower = await Follower.start(db.url);
    await prepare(db, 'p', ['p1']);
    for (const payload of ['x', 'y']) await insert(db.pool, payload);
    await follower.untilEvents(2);
    for (let round = 1; round <= 2; round += 1) {
      await killDump(db);
      await waitUntil('it has connected again', () => follower.log.count('lost the dump') >= round);
      await insert(db.pool, `after cut ${String(round)}`);
      await follower.untilEvents(2 + round);
    }
    await decide(db, 'XA COMMIT', 'p');
    await follower.untilEvents(5);
    expect(follower.payloads).toEqual(['x', 'y', 'after cut 1', 'after cut 2', 'p1']);
  });

  test("start: 'now' refuses while one is undecided: its rows would lie before the start", async () => {
    await using db = await outboxDatabase(kind, server.url);
    await prepare(db, 'p', ['p1']);
    const error = await refusal(db.url);
    expect(error.code).toBe('MYSQL_XA_PREPARED');
    await decide(db, 'XA COMMIT', 'p');
    await using follower = await Follower.start(db.url, { start: 'earliest' });
    await follower.untilEvents(1);
    expect(follower.payloads).toEqual(['p1']);
  });
});

describe('compressed transactions', () => {
  const settings = {
    mysql: ['SET SESSION binlog_transaction_compression = ON'],
    mariadb: ['SET GLOBAL log_bin_compress = ON', 'SET GLOBAL log_bin_compress_min_len = 10'],
  };

  test.each(bothKinds)('come like any other, large ones and those of two tables too: %s', async (kind) => {
    await using server = await serverOf(kind);
    await using db = await outboxDatabase(kind, server.url);
    await db.pool.query('CREATE TABLE orders (n int, text varchar(100))');
    let slow = true;
    await using follower = await Follower.start(db.url, {
      // The socket is paused in the middle of what follows, and again and again.
      onEvent: () => (slow && follower.events.length % 5_000 === 0 ? pause(50) : undefined),
    });
    await inSession(db, async (session) => {
      await each(session, settings[kind]);
      await insert(session, 'small', 'x'.repeat(1_000));
      await session.beginTransaction();
      await session.query("INSERT INTO orders VALUES (1, REPEAT('y', 100)), (2, REPEAT('z', 100))");
      await insert(session, 'with an order');
      await session.query("INSERT INTO orders VALUES (3, REPEAT('y', 100))");
      await insert(session, 'and another');
      await session.commit();
      await session.beginTransaction();
      await insertMany(session, 50_000);
      await session.commit();
      for (let n = 1; n <= 3; n += 1) {
        await session.beginTransaction();
        await insertMany(session, 4_000, `t${String(n)}.`);
        await session.commit();
      }
      await insert(session, 'last');
    });
    await follower.untilEvents(62_005, 50_000);
    slow = false;
    expect(follower.payloads).toEqual([
      'small',
      'x'.repeat(1_000),
      'with an order',
      'and another',
      ...numbered(50_000, 'r'),
      ...[1, 2, 3].flatMap((n) => numbered(4_000, `t${String(n)}.`)),
      'last',
    ]);
  });
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function xid(db: TestMysqlDatabase, name: string): string {
  return `'${db.name}','${name}',7`;
}

async function prepare(db: TestMysqlDatabase, name: string, payloads: readonly string[]): Promise<void> {
  await inSession(db, async (session) => {
    await session.query(`XA START ${xid(db, name)}`);
    for (let at = 0; at < payloads.length; at += 2_500)
      await insert(session, ...payloads.slice(at, at + 2_500));
    await each(session, [`XA END ${xid(db, name)}`, `XA PREPARE ${xid(db, name)}`]);
  });
}

/** From another session than the one that prepared it: that one may have to be noticed as gone first. */
async function decide(db: TestMysqlDatabase, verb: string, name: string): Promise<void> {
  await waitUntil(`${verb} ${name}`, () =>
    db.pool.query(`${verb} ${xid(db, name)}`).then(
      () => true,
      (error: unknown) => {
        if ((error as { errno: number }).errno === 1397) return false;
        throw error;
      },
    ),
  );
}

/** Ends the readers of the binlog of this test's user. */
async function killDump(db: TestMysqlDatabase): Promise<number> {
  const [rows] = await db.pool.query(
    "SELECT id FROM information_schema.processlist WHERE user = ? AND command LIKE 'Binlog Dump%'",
    [db.name],
  );
  const dumps = rows as Record<string, number>[];
  for (const dump of dumps)
    await db.pool.query(`KILL ${String(Object.values(dump)[0])}`).catch(() => undefined);
  return dumps.length;
}
