import { startMysql, startReplica, type MysqlServer } from '@strandline/servers';
import {
  testMysqlDatabase,
  waitUntil,
  type MysqlServerKind,
  type TestMysqlDatabase,
} from '@strandline/test-kit';
import type { Offset } from '@strandline/core';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type PoolConnection, type RowDataPacket } from 'mysql2/promise';
import { afterAll, describe, expect, test } from 'vitest';
import {
  bothKinds,
  failureOf,
  Follower,
  insert,
  insertMany,
  numbered,
  outboxTable,
  refusal,
  type FollowOptions,
} from './mysql-follower.js';
import { OwnMysqlServers } from './own-mysql-servers.js';

const own = new OwnMysqlServers();
afterAll(() => own[Symbol.asyncDispose]());

async function outboxDatabase(kind: MysqlServerKind, server?: string): Promise<TestMysqlDatabase> {
  const db = await testMysqlDatabase(kind, server);
  await db.pool.query(outboxTable);
  return db;
}

const withoutGtids = { 'gtid-mode': 'OFF', 'enforce-gtid-consistency': 'OFF' };

async function inSession(
  db: TestMysqlDatabase,
  work: (session: PoolConnection) => Promise<unknown>,
): Promise<void> {
  const session = await db.pool.getConnection();
  try {
    await work(session);
  } finally {
    session.destroy();
  }
}

/** A pipeline that has handed out `first` and was stopped. */
async function ranBefore(db: TestMysqlDatabase, options: FollowOptions = {}): Promise<Follower> {
  const follower = await Follower.start(db.url, options);
  await insert(db.pool, 'first');
  await follower.untilEvents(1);
  await follower.stop();
  return follower;
}

async function purgeAll(db: TestMysqlDatabase): Promise<void> {
  for (let n = 0; n < 2; n += 1) await db.pool.query('FLUSH BINARY LOGS');
  const [logs] = await db.pool.query<RowDataPacket[]>('SHOW BINARY LOGS');
  // A log that a reader has only just left is still in use, and stays.
  await waitUntil('the old logs are gone', async () => {
    await db.pool.query('PURGE BINARY LOGS TO ?', [logs.at(-1)?.['Log_name']]);
    const [left] = await db.pool.query<RowDataPacket[]>('SHOW BINARY LOGS');
    return left.length === 1;
  });
}

async function reset(db: TestMysqlDatabase): Promise<void> {
  // A log says in whole seconds when it was begun.
  await sleep(1_001);
  await db.pool.query(db.kind === 'mysql' ? 'RESET BINARY LOGS AND GTIDS' : 'RESET MASTER');
}

async function killDump(db: TestMysqlDatabase): Promise<void> {
  const [rows] = await db.pool.query<RowDataPacket[]>(
    "SELECT id AS id FROM information_schema.processlist WHERE user = ? AND command LIKE 'Binlog Dump%'",
    [db.name],
  );
  expect(rows).toHaveLength(1);
  await db.pool.query(`KILL ${String(rows[0]?.['id'])}`);
}

const servers: readonly (readonly [string, MysqlServerKind, Record<string, string>])[] = [
  ['mysql', 'mysql', {}],
  ['mysql without GTIDs', 'mysql', withoutGtids],
  ['mariadb', 'mariadb', {}],
];

describe.each(servers)('where a pipeline goes on: %s', (_, kind, settings) => {
  test('behind a rotation of the log, be it read at that time or not', async () => {
    const server = await own.fresh(kind, settings);
    await using db = await outboxDatabase(kind, server.url);
    const first = await Follower.start(db.url);
    await insert(db.pool, 'a');
    await db.pool.query('FLUSH BINARY LOGS');
    await insert(db.pool, 'b');
    await first.untilEvents(2);
    await first.stop();
    await db.pool.query('FLUSH BINARY LOGS');
    await insert(db.pool, 'c');
    await db.pool.query('FLUSH BINARY LOGS');
    await server.restart();
    await using second = await Follower.start(db.url, { storage: first.storage });
    await insert(db.pool, 'd');
    await second.untilEvents(2);
    expect(first.payloads).toEqual(['a', 'b']);
    expect(second.payloads).toEqual(['c', 'd']);
  });

  test('in the middle of a transaction, and nothing is handed out again', async () => {
    const server = await own.fresh(kind, settings);
    await using db = await outboxDatabase(kind, server.url);
    const storage = new Map<string, Offset>();
    const handled: (string | null)[] = [];
    await insert(db.pool, 'before the start');
    let follower = await Follower.start(db.url, { storage });
    await inSession(db, async (session) => {
      await session.beginTransaction();
      await insertMany(session, 9_000);
      await session.commit();
    });
    await insert(db.pool, 'last');
    for (const stopAt of [1, 1_000, 5_000]) {
      handled.push(...follower.payloads);
      await follower.stop();
      follower = await Follower.start(db.url, {
        storage,
        onEvent: () => (follower.events.length >= stopAt ? sleep(20) : undefined),
      });
      await follower.untilEvents(stopAt);
      await follower.stop();
    }
    handled.push(...follower.payloads);
    await using rest = await Follower.start(db.url, { storage });
    await waitUntil('all were handed out', () => handled.length + rest.events.length >= 9_001);
    expect([...handled, ...rest.payloads]).toEqual([...numbered(9_000, 'r'), 'last']);
  });

  test("start: 'earliest' begins with what the log still has", async () => {
    const server = await own.fresh(kind, settings);
    await using db = await outboxDatabase(kind, server.url);
    await insert(db.pool, 'purged');
    await purgeAll(db);
    for (const payload of ['a', 'b']) await insert(db.pool, payload);
    await using follower = await Follower.start(db.url, { start: 'earliest' });
    await insert(db.pool, 'c');
    await follower.untilEvents(3);
    expect(follower.payloads).toEqual(['a', 'b', 'c']);
  });

  test('not behind logs that were purged: it does not start, and says so', async () => {
    const server = await own.fresh(kind, settings);
    await using db = await outboxDatabase(kind, server.url);
    const { storage } = await ranBefore(db);
    await insert(db.pool, 'lost');
    await purgeAll(db);
    await insert(db.pool, 'must not come');
    for (let round = 0; round < 2; round += 1)
      expect(await refusal(db.url, { storage })).toMatchObject({ code: 'MYSQL_PURGED' });
  });

  test('not behind logs that are purged while the connection is lost', async () => {
    const server = await own.fresh(kind, settings);
    await using db = await outboxDatabase(kind, server.url);
    await using follower = await Follower.start(db.url, {
      reconnect: { initialDelay: 2_000, maxDelay: 2_000 },
    });
    await insert(db.pool, 'first');
    await follower.untilEvents(1);
    await killDump(db);
    await insert(db.pool, 'lost');
    await purgeAll(db);
    await insert(db.pool, 'must not come');
    expect(await follower.untilFailed()).toMatchObject({ code: 'MYSQL_PURGED' });
    expect(follower.payloads).toEqual(['first']);
  });

  test.each([
    ['shorter', 1],
    ['longer', 40],
  ])('not in a log that was reset and is %s now', async (__, inserts) => {
    const server = await own.fresh(kind, settings);
    await using db = await outboxDatabase(kind, server.url);
    for (let n = 0; n < 5; n += 1) await insert(db.pool, 'before the start');
    const { storage } = await ranBefore(db);
    await reset(db);
    for (let n = 0; n < inserts; n += 1) await insert(db.pool, `must not come ${String(n)}`);
    const error = await failureOf(db.url, { storage });
    expect(error.code).toMatch(/^(MYSQL_POSITION_AHEAD|MYSQL_OFFSET_FOREIGN)$/);
  });

  test('not in a log that is reset while the connection is lost', async () => {
    const server = await own.fresh(kind, settings);
    await using db = await outboxDatabase(kind, server.url);
    for (let n = 0; n < 5; n += 1) await insert(db.pool, 'before the start');
    await using follower = await Follower.start(db.url, {
      reconnect: { initialDelay: 2_000, maxDelay: 2_000 },
    });
    await insert(db.pool, 'first');
    await follower.untilEvents(1);
    await killDump(db);
    await reset(db);
    for (let n = 0; n < 40; n += 1) await insert(db.pool, `must not come ${String(n)}`);
    expect((await follower.untilFailed()).code).toMatch(/^(MYSQL_POSITION_AHEAD|MYSQL_OFFSET_FOREIGN)$/);
    expect(follower.payloads).toEqual(['first']);
  });

  test('whatever the log has for checksums, also when that changes', async () => {
    const server = await own.fresh(kind, settings);
    await using db = await outboxDatabase(kind, server.url);
    const expected: string[] = [];
    const first = await Follower.start(db.url);
    for (const checksum of ['CRC32', 'NONE', 'CRC32', 'NONE']) {
      await db.pool.query(`SET GLOBAL binlog_checksum = ${checksum}`);
      for (const size of [1, 100, 1_000]) {
        expected.push(`${checksum} ${'x'.repeat(size)}`);
        await insert(db.pool, expected.at(-1) ?? '');
      }
    }
    await first.untilEvents(expected.length);
    expect(first.payloads).toEqual(expected);
    await first.stop();
    // All from the first log on, whatever the server writes now.
    for (const checksum of ['CRC32', 'NONE']) {
      await db.pool.query(`SET GLOBAL binlog_checksum = ${checksum}`);
      const again = await Follower.start(db.url, {
        name: `again-${checksum.toLowerCase()}`,
        start: 'earliest',
      });
      await again.untilEvents(expected.length);
      expect(again.payloads).toEqual(expected);
      await again.stop();
    }
  });
});

test('an offset in files of another server is of no use', async () => {
  const one = await own.fresh('mysql', withoutGtids);
  await using other = await startMysql({ exclusive: true, settings: withoutGtids });
  await using db = await outboxDatabase('mysql', one.url);
  const { storage } = await ranBefore(db);
  await createSame(other, db);
  const error = await failureOf(urlOn(other, db), { storage });
  expect(error).toMatchObject({ code: 'MYSQL_OFFSET_FOREIGN' });
});

describe('GTID sets of MySQL', () => {
  test('holes are kept: what fills them later is handed out', async () => {
    const server = await own.fresh('mysql');
    await using db = await outboxDatabase('mysql', server.url);
    const uuid = randomUUID();
    const insertAs = (gtid: string, payload: string): Promise<void> =>
      inSession(db, async (session) => {
        await session.query('SET SESSION gtid_next = ?', [gtid]);
        await insert(session, payload);
      });
    await insertAs(`${uuid}:5`, 'before the start');
    const first = await Follower.start(db.url);
    await insertAs(`${uuid}:10`, 'ten');
    await insertAs(`${uuid}:2`, 'two');
    await first.untilEvents(2);
    await first.stop();
    await insertAs(`${uuid}:1`, 'one');
    await insertAs(`${uuid}:7`, 'seven');
    const second = await Follower.start(db.url, { storage: first.storage });
    await second.untilEvents(2);
    await insertAs(`${uuid}:6`, 'six');
    await second.untilEvents(3);
    await second.stop();
    expect(first.payloads).toEqual(['ten', 'two']);
    expect(second.payloads).toEqual(['one', 'seven', 'six']);
  });

  test('tagged ones are positions like any other', async () => {
    const server = await own.fresh('mysql');
    await using db = await outboxDatabase('mysql', server.url);
    const tagged = (payload: string): Promise<void> =>
      inSession(db, async (session) => {
        await session.query("SET SESSION gtid_next = 'AUTOMATIC:shop'");
        await insert(session, payload);
      });
    const first = await Follower.start(db.url);
    await tagged('t1');
    await insert(db.pool, 'plain');
    await tagged('t2');
    await first.untilEvents(3);
    await first.stop();
    expect(first.events[0]?.transaction.id).toMatch(/:shop:1$/);
    await tagged('t3');
    await db.pool.query('FLUSH BINARY LOGS');
    await tagged('t4');
    await using second = await Follower.start(db.url, { storage: first.storage });
    await second.untilEvents(2);
    expect(first.payloads).toEqual(['t1', 'plain', 't2']);
    expect(second.payloads).toEqual(['t3', 't4']);
  });
});

describe.each(bothKinds)('failover: %s', (kind) => {
  test('on a promoted replica it goes on behind what was handled', async () => {
    const source = await own.fresh(kind);
    // Its files have other names and offsets than the replica's.
    await using db = await outboxDatabase(kind, source.url);
    await using replica = await startReplica(source);
    const first = await Follower.start(db.url);
    await insertManyTransactions(db, 20);
    await first.untilEvents(20);
    await first.stop();
    await insert(db.pool, 'on the source, not handled');
    await replica.catchUp();
    await replica.promote();
    const url = urlOn(replica, db);
    const other = await createConnection(url);
    await insert(other, 'on the new one');
    await other.end();
    const second = await Follower.start(url, { storage: first.storage });
    await second.untilEvents(2);
    await second.stop();
    expect(second.payloads).toEqual(['on the source, not handled', 'on the new one']);
    expect(first.payloads).toEqual(numbered(20, 't'));
  });

  test('on a replica that lacks what was handled it stops', async () => {
    const source = await own.fresh(kind);
    await using db = await outboxDatabase(kind, source.url);
    await using replica = await startReplica(source);
    const first = await Follower.start(db.url);
    await insert(db.pool, 'on both');
    await replica.catchUp();
    const other = await createConnection(replica.url);
    await other.query(kind === 'mysql' ? 'STOP REPLICA' : 'STOP SLAVE');
    await insert(db.pool, 'on the source alone');
    await first.untilEvents(2);
    await first.stop();
    await other.end();
    await replica.promote();
    const error = await failureOf(urlOn(replica, db), { storage: first.storage });
    expect(error).toMatchObject({ code: 'MYSQL_POSITION_AHEAD' });
  });
});

describe.each(bothKinds)('two readers with one server id: %s', (kind) => {
  test('one of them stops and says so; they do not throw each other out for ever', async () => {
    await using db = await outboxDatabase(kind);
    const serverId = db.serverId();
    await using one = await Follower.start(db.url, { name: 'one', serverId });
    await insert(db.pool, 'a');
    await one.untilEvents(1);
    await using other = await Follower.start(db.url, { name: 'other', serverId });
    await insert(db.pool, 'b');
    await waitUntil('one of them has stopped', () => one.failure ?? other.failure);
    expect(one.failure ?? other.failure).toMatchObject({ code: 'MYSQL_SERVER_ID' });
    const [left, lost] = one.failure === null ? [one, other] : [other, one];
    await insert(db.pool, 'c');
    await waitUntil('the other one goes on', () => left.payloads.includes('c'));
    expect(left.failure).toBe(null);
    expect(left.log.count('lost the dump') + lost.log.count('lost the dump')).toBeLessThan(3);
  });

  test('no two pipelines have one unless they are told to: each reads all of it beside the other', async () => {
    await using db = await outboxDatabase(kind);
    await using one = await Follower.start(db.url, { name: 'one' });
    await using other = await Follower.start(db.url, { name: 'other' });
    for (let round = 1; round <= 3; round += 1) {
      await insert(db.pool, `r${String(round)}`);
      await one.untilEvents(round);
      await other.untilEvents(round);
    }
    expect([one.failure, other.failure]).toEqual([null, null]);
    expect(one.log.count('lost the dump') + other.log.count('lost the dump')).toBe(0);
  });

  test('its own connection that the server still has is no other reader', async () => {
    await using db = await outboxDatabase(kind);
    await using follower = await Follower.start(db.url);
    for (let round = 1; round <= 3; round += 1) {
      await insert(db.pool, `r${String(round)}`);
      await follower.untilEvents(round);
      await killDump(db);
    }
    await insert(db.pool, 'last');
    await follower.untilEvents(4);
    expect(follower.payloads).toEqual(['r1', 'r2', 'r3', 'last']);
  });
});

describe('logins of MySQL', () => {
  test.each([
    ['with TLS', true],
    ['without TLS', false],
  ])('caching_sha2_password with a cold and a warm cache, %s', async (_, tls) => {
    const server = await own.fresh('mysql');
    await using db = await outboxDatabase('mysql', server.url);
    const { hostname: host, port, username: user, password, pathname } = new URL(db.url);
    const connection = {
      host,
      port: Number(port),
      user,
      password,
      database: pathname.slice(1),
      ...(tls ? { ssl: { rejectUnauthorized: false } } : {}),
    };
    const [plugin] = await db.pool.query<RowDataPacket[]>(
      'SELECT plugin AS p FROM mysql.user WHERE user = ?',
      [user],
    );
    expect(plugin[0]?.['p']).toBe('caching_sha2_password');
    for (const cache of ['cold', 'warm']) {
      if (cache === 'cold') await db.pool.query('FLUSH PRIVILEGES');
      const follower = await Follower.start(db.url, { name: cache, connection });
      const [dumps] = await db.pool.query<RowDataPacket[]>(
        `SELECT t.connection_type AS type FROM performance_schema.threads t
         WHERE t.processlist_user = ? AND t.processlist_command = 'Binlog Dump GTID'`,
        [user],
      );
      await insert(db.pool, cache);
      await follower.untilEvents(1);
      await follower.stop();
      for (const { type } of dumps) expect(type).toBe(tls ? 'SSL/TLS' : 'TCP/IP');
      expect(follower.payloads).toEqual([cache]);
    }
  });
});

async function insertManyTransactions(db: TestMysqlDatabase, count: number): Promise<void> {
  for (const payload of numbered(count, 't')) await insert(db.pool, payload);
}

/** The database of that name on another server, by that server's superuser. */
function urlOn(server: MysqlServer, db: TestMysqlDatabase): string {
  const url = new URL(server.url);
  url.pathname = `/${db.name}`;
  return url.href;
}

async function createSame(server: MysqlServer, db: TestMysqlDatabase): Promise<void> {
  const connection = await createConnection(await server.createDatabase(db.name));
  await connection.query(outboxTable);
  await connection.end();
}
