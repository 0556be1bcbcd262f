import { startReplica } from '@strandline/servers';
import {
  testMysqlDatabase,
  waitUntil,
  type MysqlServerKind,
  type TestMysqlDatabase,
} from '@strandline/test-kit';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { afterAll, describe, expect, test } from 'vitest';
import { bothKinds, Follower, insert, numbered, outboxTable } from './mysql-follower.js';
import { BesideOwner, inspect } from './mysql-reader.js';
import { OwnMysqlServers } from './own-mysql-servers.js';

const own = new OwnMysqlServers();
afterAll(() => own[Symbol.asyncDispose]());

const withoutGtids = { 'gtid-mode': 'OFF', 'enforce-gtid-consistency': 'OFF' };

const servers: readonly (readonly [string, MysqlServerKind, Record<string, string>])[] = [
  ['mysql', 'mysql', {}],
  ['mysql without GTIDs', 'mysql', withoutGtids],
  ['mariadb', 'mariadb', {}],
];

async function outboxDatabase(kind: MysqlServerKind, server?: string): Promise<TestMysqlDatabase> {
  const db = await testMysqlDatabase(kind, server);
  await db.pool.query(outboxTable);
  return db;
}

/** Resolves with a second of the server's clock in which nothing was done yet, as ISO 8601. */
async function nextSecond(db: TestMysqlDatabase): Promise<string> {
  const now = async (): Promise<number> => {
    const [rows] = await db.pool.query<RowDataPacket[]>('SELECT unix_timestamp() AS now');
    return Number(rows[0]?.['now']);
  };
  const before = await now();
  const next = await waitUntil('another second has begun', async () => {
    const seconds = await now();
    return seconds > before && seconds;
  });
  return new Date(Number(next) * 1_000).toISOString();
}

async function filesOf(db: TestMysqlDatabase): Promise<{ names: string[]; bytes: number }> {
  const [rows] = await db.pool.query<RowDataPacket[]>('SHOW BINARY LOGS');
  return {
    names: rows.map((row) => String(row['Log_name'])),
    bytes: rows.reduce((sum, row) => sum + Number(row['File_size']), 0),
  };
}

async function purgeTo(db: TestMysqlDatabase, file: string): Promise<void> {
  // A log that a reader has only just left is still in use, and stays.
  await waitUntil('the old logs are gone', async () => {
    await db.pool.query('PURGE BINARY LOGS TO ?', [file]);
    return (await filesOf(db)).names[0] === file;
  });
}

async function dumps(db: TestMysqlDatabase): Promise<number[]> {
  const [rows] = await db.pool.query<RowDataPacket[]>(
    "SELECT id AS id FROM information_schema.processlist WHERE user = ? AND command LIKE 'Binlog Dump%'",
    [db.name],
  );
  return rows.map((row) => Number(row['id']));
}

/** Ends every connection that reads the log now. */
async function endDumps(db: TestMysqlDatabase): Promise<void> {
  const noSuchThread = 1094;
  for (const id of await dumps(db)) {
    await db.pool.query(`KILL ${String(id)}`).catch((error: unknown) => {
      if ((error as { errno?: number }).errno !== noSuchThread) throw error;
    });
  }
}

describe.each(servers)('reading beside the owner: %s', (_, kind, settings) => {
  test('from a time on, with the first that committed then, whatever the file; and so from its start', async () => {
    const server = await own.fresh(kind, settings);
    await using db = await outboxDatabase(kind, server.url);
    await using owner = await Follower.start(db.url);
    const times: string[] = [];
    for (let n = 1; n <= 5; n += 1) {
      await db.pool.query('FLUSH BINARY LOGS');
      times.push(await nextSecond(db));
      await insert(db.pool, `${String(n)}a`);
      await insert(db.pool, `${String(n)}b`);
    }
    await owner.untilEvents(10);
    const { identity } = await inspect(db.url);
    for (const [index, time] of times.entries()) {
      await using reader = await BesideOwner.start(db.url, { time });
      // Whoever goes on from its start later knows of no time.
      await using again = await BesideOwner.start(db.url, { after: reader.reader.start, identity });
      await again.untilEvents((5 - index) * 2);
      expect(again.payloads).toEqual(owner.payloads.slice(index * 2));
      await reader.untilEvents((5 - index) * 2);
      expect(reader.payloads).toEqual(owner.payloads.slice(index * 2));
    }
    await using earlier = await BesideOwner.start(db.url, { time: '2001-01-01T00:00:00Z' });
    await using later = await BesideOwner.start(db.url, { time: await nextSecond(db) });
    await insert(db.pool, 'last');
    await earlier.untilEvents(11);
    await later.untilEvents(1);
    expect(earlier.payloads).toEqual([...owner.payloads.slice(0, 10), 'last']);
    expect(later.payloads).toEqual(['last']);
  });

  test('what was begun before a time and committed after it is read', async () => {
    const server = await own.fresh(kind, settings);
    await using db = await outboxDatabase(kind, server.url);
    await insert(db.pool, 'before');
    const late = await db.pool.getConnection();
    await late.beginTransaction();
    await insert(late, 'late');
    const time = await nextSecond(db);
    await insert(db.pool, 'after');
    await db.pool.query('FLUSH BINARY LOGS');
    await late.commit();
    late.release();
    await using reader = await BesideOwner.start(db.url, { time });
    await reader.untilEvents(2);
    expect(reader.payloads).toEqual(['after', 'late']);
  });

  test('over many files, from each position of them, and over a connection that ends between two', async () => {
    const server = await own.fresh(kind, settings);
    await using db = await outboxDatabase(kind, server.url);
    await using owner = await Follower.start(db.url);
    for (const payload of numbered(6, 'p')) {
      await insert(db.pool, payload);
      await db.pool.query('FLUSH BINARY LOGS');
    }
    await owner.untilEvents(6);
    const { identity } = (await inspect(db.url)) as { identity: Record<string, string> };
    for (const [index, { position }] of owner.events.entries()) {
      await using reader = await BesideOwner.start(db.url, { after: position, identity });
      await reader.untilEvents(5 - index);
      expect(reader.payloads).toEqual(owner.payloads.slice(index + 1));
    }
    await using reader = await BesideOwner.start(db.url, 'earliest');
    await reader.untilEvents(6);
    for (const payload of ['q1', 'q2', 'q3']) {
      await endDumps(db);
      await db.pool.query('FLUSH BINARY LOGS');
      await insert(db.pool, payload);
      await db.pool.query('FLUSH BINARY LOGS');
    }
    for (const follower of [reader, owner]) {
      await follower.untilEvents(9);
      expect(follower.payloads).toEqual([...numbered(6, 'p'), ...numbered(3, 'q')]);
    }
  });

  test('not from before what was purged: it says what is there, and can be read from there', async () => {
    const server = await own.fresh(kind, settings);
    await using db = await outboxDatabase(kind, server.url);
    await using owner = await Follower.start(db.url);
    const time = await nextSecond(db);
    await insert(db.pool, 'purged');
    await owner.untilEvents(1);
    await nextSecond(db);
    await db.pool.query('FLUSH BINARY LOGS');
    const file = (await filesOf(db)).names.at(-1) ?? '';
    await nextSecond(db);
    await insert(db.pool, 'there');
    await owner.untilEvents(2);
    await purgeTo(db, file);
    const { identity } = await inspect(db.url);
    const refusals = [
      await failure(BesideOwner.start(db.url, { time })),
      await failure(BesideOwner.start(db.url, { after: owner.events[0]?.position ?? '', identity })),
    ];
    // Right behind the last one that was purged nothing is missing, but for what only its file could tell.
    for (const error of refusals.slice(0, settings === withoutGtids ? 2 : 1)) {
      expect(error).toMatchObject({ code: 'MYSQL_HISTORY_GONE' });
      expect(error.message).toContain(file);
      expect(error.message).toContain('binlog_expire_logs_seconds');
      const [earliest = ''] = /[\d-]+T[\d:.]+Z(?= on)/.exec(error.message) ?? [];
      for (const from of [{ time: earliest }, 'earliest' as const]) {
        await using reader = await BesideOwner.start(db.url, from);
        await reader.untilEvents(1);
        expect(reader.payloads).toEqual(['there']);
      }
    }
    expect(owner.failure).toBeNull();
  });

  test('not behind what is purged while the connection is lost', async () => {
    const server = await own.fresh(kind, settings);
    await using db = await outboxDatabase(kind, server.url);
    const reconnect = { initialDelay: 2_000, maxDelay: 2_000 };
    await using reader = await BesideOwner.start(db.url, 'now', { reconnect });
    await insert(db.pool, 'first');
    await reader.untilEvents(1);
    await endDumps(db);
    await insert(db.pool, 'lost');
    for (let n = 0; n < 2; n += 1) await db.pool.query('FLUSH BINARY LOGS');
    await purgeTo(db, (await filesOf(db)).names.at(-1) ?? '');
    await insert(db.pool, 'must not come');
    expect(await reader.untilFailed()).toMatchObject({ code: 'MYSQL_HISTORY_GONE' });
    expect(reader.payloads).toEqual(['first']);
  });

  test('all that is there is told to be read, also when nothing is logged any more', async () => {
    const server = await own.fresh(kind, settings);
    await using db = await outboxDatabase(kind, server.url);
    await using owner = await BesideOwner.start(db.url, 'earliest');
    for (const payload of ['a', 'b', 'c']) {
      await insert(db.pool, payload);
      await db.pool.query('FLUSH BINARY LOGS');
    }
    await owner.untilEvents(3);
    const state = await inspect(db.url);
    const { head } = state;
    expect(state.retainedBytes).toBe((await filesOf(db)).bytes);
    await owner.until('the head is passed', () => owner.passed.some((at) => state.compare(at, head) >= 0));
    expect(state.bytesBehind(owner.passed.at(-1) ?? '')).toBe(0);
    const [first = '', second = ''] = owner.events.map(({ position }) => position);
    const [behindFirst, behindSecond] = [state.bytesBehind(first) ?? 0, state.bytesBehind(second) ?? 0];
    expect(behindFirst).toBeGreaterThan(behindSecond);
    await using later = await BesideOwner.start(db.url, 'now');
    expect(later.reader.bytesBetween(first, head)).toBe(behindFirst);
    expect(later.reader.bytesBetween(first, second)).toBe(behindFirst - behindSecond);
  });

  test('not in a log that was reset', async () => {
    const server = await own.fresh(kind, settings);
    await using db = await outboxDatabase(kind, server.url);
    for (let n = 0; n < 5; n += 1) await insert(db.pool, 'x');
    await using first = await BesideOwner.start(db.url, 'earliest');
    await first.untilEvents(5);
    await first.reader.close();
    const { identity } = await inspect(db.url);
    await nextSecond(db);
    await db.pool.query(kind === 'mysql' ? 'RESET BINARY LOGS AND GTIDS' : 'RESET MASTER');
    const { position: after = '' } = first.events.at(-1) ?? {};
    expect(await failure(BesideOwner.start(db.url, { after, identity }))).toMatchObject({
      code: expect.stringMatching(/^MYSQL_(POSITION_AHEAD|OFFSET_FOREIGN)$/) as string,
    });
  });
});

describe.each(bothKinds)('a reader of %s', (kind) => {
  test('takes another server id than the owner, also where that is configured', async () => {
    await using db = await outboxDatabase(kind);
    const serverId = db.serverId();
    await using owner = await Follower.start(db.url, { serverId });
    await using one = await BesideOwner.start(db.url, 'now', { serverId });
    await using other = await BesideOwner.start(db.url, 'now', { serverId });
    for (const payload of numbered(20, 'p')) await insert(db.pool, payload);
    for (const follower of [owner, one, other]) {
      await follower.untilEvents(20);
      expect(follower.payloads).toEqual(numbered(20, 'p'));
    }
    expect(owner.log.has('lost the dump')).toBe(false);
    expect(await dumps(db)).toHaveLength(3);
  });

  test('reads from a position of a replaced server, whose files mean nothing here', async () => {
    const source = await own.fresh(kind);
    await using db = await outboxDatabase(kind, source.url);
    await using replica = await startReplica(source);
    await using first = await BesideOwner.start(db.url, 'now');
    const { identity } = await inspect(db.url);
    for (const payload of ['a', 'b', 'c']) await insert(db.pool, payload);
    await first.untilEvents(3);
    await replica.catchUp();
    await replica.promote();
    const url = new URL(db.url);
    const there = new URL(replica.url);
    [url.hostname, url.port] = [there.hostname, there.port];
    const after = first.events[0]?.position ?? '';
    await using second = await BesideOwner.start(url.href, { after, identity });
    await second.untilEvents(2);
    expect(second.payloads).toEqual(['b', 'c']);
    const state = await inspect(url.href);
    expect(state.compare(after, state.head)).toBeLessThan(0);
    expect(state.bytesBehind(after)).toBeNull();
  });

  test('is refused what an undecided XA transaction could lose, unless nobody uses XA', async () => {
    // Every other one on the server would be in the way.
    const server = await own.fresh(kind);
    await using db = await outboxDatabase(kind, server.url);
    await using before = await BesideOwner.start(db.url, 'now');
    const { identity } = await inspect(db.url);
    const xa = await createConnection(db.url);
    await xa.query("XA START 'x'");
    await insert(xa, 'prepared');
    await xa.query("XA END 'x'");
    await xa.query("XA PREPARE 'x'");
    await insert(db.pool, 'between');
    await before.untilEvents(1);
    expect(await failure(BesideOwner.start(db.url, 'now'))).toMatchObject({ code: 'MYSQL_XA_PREPARED' });
    await using after = await BesideOwner.start(db.url, {
      after: before.events[0]?.position ?? '',
      identity,
    });
    await using ignoring = await BesideOwner.start(db.url, 'now', { undecidedXa: 'ignore' });
    await xa.query("XA COMMIT 'x'");
    await xa.end();
    await insert(db.pool, 'last');
    await after.untilEvents(2);
    await ignoring.untilEvents(1);
    // The position knows of it: its rows lie before.
    expect(after.payloads).toEqual(['prepared', 'last']);
    expect(ignoring.payloads).toEqual(['last']);
  });

  test('needs no more privileges than an owner', async () => {
    await using db = await outboxDatabase(kind);
    await using user = await limitedUser(db);
    const { url } = user;
    await insert(db.pool, 'a');
    await using owner = await BesideOwner.start(db.url, 'earliest');
    await owner.untilEvents(1);
    const { identity, retainedBytes } = await inspect(url);
    expect(retainedBytes).toBeGreaterThan(0);
    const { position: after = '', transaction } = owner.events[0] ?? {};
    await using earliest = await BesideOwner.start(url, 'earliest');
    await using time = await BesideOwner.start(url, { time: transaction?.commitTime ?? '' });
    await using behind = await BesideOwner.start(url, { after, identity });
    await insert(db.pool, 'b');
    for (const reader of [earliest, time]) {
      await reader.untilEvents(2);
      expect(reader.payloads).toEqual(['a', 'b']);
    }
    await behind.untilEvents(1);
    expect(behind.payloads).toEqual(['b']);
  });

  test('that is stopped while it opens leaves nothing behind', async () => {
    await using db = await outboxDatabase(kind);
    await insert(db.pool, 'a');
    // At whichever step it is by then: the fixture fails the test for a connection that is left.
    for (const delay of [0, 5, 10, 20, 30, 50]) {
      const signal = AbortSignal.timeout(delay);
      await BesideOwner.start(db.url, { time: new Date().toISOString() }, {}, signal).catch(
        (error: unknown) => {
          if (!signal.aborted) throw error;
        },
      );
    }
  });

  test('does not know a text that is no time, and no place in a start snapshot', async () => {
    await using db = await outboxDatabase(kind);
    const { identity } = await inspect(db.url);
    expect(await failure(BesideOwner.start(db.url, { time: 'noon' }))).toMatchObject({
      code: 'MYSQL_POSITION',
    });
    expect(await failure(BesideOwner.start(db.url, { after: 'snapshot:["1"]', identity }))).toMatchObject({
      code: 'MYSQL_HISTORY_GONE',
    });
  });
});

/** A user with the privileges that README names, and no others. */
async function limitedUser(db: TestMysqlDatabase): Promise<AsyncDisposable & { readonly url: string }> {
  const url = new URL(db.url);
  const user = `${db.name}_r`;
  await db.pool.query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'p'`);
  const monitor = db.kind === 'mariadb' ? ', BINLOG MONITOR' : '';
  await db.pool.query(`GRANT REPLICATION SLAVE, REPLICATION CLIENT${monitor} ON *.* TO '${user}'@'%'`);
  await db.pool.query(`GRANT SELECT ON \`${db.name}\`.outbox TO '${user}'@'%'`);
  [url.username, url.password] = [user, 'p'];
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      await db.pool.query(`DROP USER '${user}'@'%'`);
    },
  };
}

async function failure(opening: Promise<BesideOwner>): Promise<Error & { code: string }> {
  const opened = await opening.catch((error: unknown) => error as Error & { code: string });
  if (!(opened instanceof BesideOwner)) return opened;
  await opened.reader.close();
  throw new Error('It was opened.');
}
