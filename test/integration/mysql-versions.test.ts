import {
  kindOf,
  mysqlServersOfRun,
  startMysqlServer,
  startReplica,
  type MysqlServer,
} from '@strandline/servers';
import { testMysqlDatabase, waitUntil, type TestMysqlDatabase } from '@strandline/test-kit';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failureOf, Follower, insert, insertMany, numbered, outboxTable, refusal } from './mysql-follower.js';

const servers = await mysqlServersOfRun();

/**
 * On every version that the run has: what asks a server in words of its version, or reads what each writes in its own
 * way. All other suites run on the newest of each kind.
 */
describe.each(servers)('%s', (name) => {
  const kind = kindOf(name);
  let server: MysqlServer;
  beforeAll(async () => {
    server = await startMysqlServer(name, { exclusive: true });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function outboxDatabase(): Promise<TestMysqlDatabase> {
    const db = await testMysqlDatabase(name, server.url);
    await db.pool.query(outboxTable);
    return db;
  }

  test('a pipeline goes on behind a new log, a kill and a restart of the server', async () => {
    await using db = await outboxDatabase();
    await using follower = await Follower.start(db.url);
    await insert(db.pool, 'a');
    await follower.untilEvents(1);
    await db.pool.query('FLUSH BINARY LOGS');
    await insert(db.pool, 'b');
    await server.kill();
    await server.start();
    await insert(db.pool, 'c');
    await follower.untilEvents(3);
    await server.restart();
    await insert(db.pool, 'd');
    await follower.untilEvents(4);
    await follower.stop();
    await insert(db.pool, 'e');
    await using next = await Follower.start(db.url, { storage: follower.storage });
    await next.untilEvents(1);
    expect([...follower.payloads, ...next.payloads]).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('an XA transaction comes at its commit, and a start in between is refused', async () => {
    await using db = await outboxDatabase();
    await using follower = await Follower.start(db.url);
    const xid = `'${db.name}','branch',7`;
    const session = await createConnection(db.url);
    await session.query(`XA START ${xid}`);
    await insert(session, 'x1', 'x2');
    for (const verb of ['XA END', 'XA PREPARE']) await session.query(`${verb} ${xid}`);
    await session.end();
    await insert(db.pool, 'plain');
    await follower.untilEvents(1);
    expect(await refusal(db.url, { name: 'other' })).toMatchObject({ code: 'MYSQL_XA_PREPARED' });
    const notYet = 1397; // the session that prepared it may have to be noticed as gone
    await waitUntil('it is committed', () =>
      db.pool.query(`XA COMMIT ${xid}`).then(
        () => true,
        (error: unknown) => {
          if ((error as { errno: number }).errno !== notYet) throw error;
          return false;
        },
      ),
    );
    await follower.untilEvents(3);
    expect(follower.payloads).toEqual(['plain', 'x1', 'x2']);
  });

  test('a compressed transaction comes whole, and what was rolled back in one does not', async () => {
    await using db = await outboxDatabase();
    await using follower = await Follower.start(db.url);
    const session = await createConnection(db.url);
    const compress = {
      mysql: ['SET SESSION binlog_transaction_compression = ON'],
      mariadb: ['SET GLOBAL log_bin_compress = ON', 'SET GLOBAL log_bin_compress_min_len = 10'],
    };
    for (const statement of compress[kind]) await session.query(statement);
    await session.beginTransaction();
    await insertMany(session, 3_000);
    await session.query('SAVEPOINT here');
    await insert(session, 'taken back');
    await session.query('ROLLBACK TO SAVEPOINT here');
    await insert(session, 'last');
    await session.commit();
    await session.end();
    await follower.untilEvents(3_001);
    expect(follower.payloads).toEqual([...numbered(3_000, 'r'), 'last']);
  });

  test('an offset is refused behind purged logs, and ahead of a log that was reset', async () => {
    await using db = await outboxDatabase();
    const first = await Follower.start(db.url);
    await insert(db.pool, 'first');
    await first.untilEvents(1);
    await first.stop();
    await insert(db.pool, 'lost');
    await db.pool.query('FLUSH BINARY LOGS');
    const [logs] = await db.pool.query<RowDataPacket[]>('SHOW BINARY LOGS');
    await waitUntil('the old logs are gone', async () => {
      await db.pool.query('PURGE BINARY LOGS TO ?', [logs.at(-1)?.['Log_name']]);
      const [left] = await db.pool.query<RowDataPacket[]>('SHOW BINARY LOGS');
      return left.length === 1;
    });
    const { storage } = first;
    expect(await failureOf(db.url, { storage })).toMatchObject({ code: 'MYSQL_PURGED' });
    await resetLog(db);
    expect(await failureOf(db.url, { storage })).toMatchObject({ code: 'MYSQL_POSITION_AHEAD' });
  });

  test('on a promoted replica a pipeline goes on behind what was handled', async () => {
    await using source = await startMysqlServer(name, { exclusive: true });
    await using db = await testMysqlDatabase(name, source.url);
    await db.pool.query(outboxTable);
    await using replica = await startReplica(source);
    const first = await Follower.start(db.url);
    await insert(db.pool, 'handled');
    await first.untilEvents(1);
    await first.stop();
    await insert(db.pool, 'not handled');
    await replica.catchUp();
    await replica.promote();
    const url = Object.assign(new URL(replica.url), { pathname: `/${db.name}` }).href;
    const session = await createConnection(url);
    await insert(session, 'on the new one');
    await session.end();
    const second = await Follower.start(url, { storage: first.storage });
    await second.untilEvents(2);
    await second.stop();
    expect(second.payloads).toEqual(['not handled', 'on the new one']);
  });

  test('a start snapshot and the log have the same values, for keys and payloads of every kind', async () => {
    await using db = await testMysqlDatabase(name);
    await db.pool.query(`CREATE TABLE outbox (id bigint unsigned AUTO_INCREMENT PRIMARY KEY,
      decimals decimal(30,10), moment datetime(6), stamp timestamp(3), day date, year year, latin varchar(20)
      CHARACTER SET latin1, japanese varchar(20) CHARACTER SET sjis, choice enum('a,b','it''s'), bits bit(10),
      bytes varbinary(20), document json, text longtext)`);
    const values = [
      ...['12345678901234567890.0000000001', '2024-02-29 23:59:59.999999', '2024-02-29 12:00:00.123'],
      ...[
        '2024-02-29',
        '1999',
        'grün €',
        '表示',
        "it's",
        513,
        Buffer.from([0, 255]),
        '{"a": [1, null]}',
        '💶',
      ],
    ];
    const columns =
      'decimals, moment, stamp, day, year, latin, japanese, choice, bits, bytes, document, text';
    const write = (): Promise<unknown> =>
      db.pool.query(`INSERT INTO outbox (${columns}) VALUES (?)`, [values]);
    await write();
    const key = columns.split(', ');
    const outbox = { table: 'outbox', id: 'id', key, payload: 'document', columns: key };
    await using follower = await Follower.start(db.url, { start: 'snapshot', outbox });
    await follower.untilEvents(1);
    await write();
    await follower.untilEvents(2);
    const [fromTable, fromLog] = follower.events;
    expect(fromLog?.key).toBe(fromTable?.key);
    expect(fromLog?.columns).toEqual(fromTable?.columns);
    expect(fromLog?.columns).toMatchObject({
      japanese: '表示',
      choice: "it's",
      moment: values[1],
      text: '💶',
    });
    expect(follower.payloads[1]).toBe(follower.payloads[0]);
  });

  test('a second process waits until the owner of the pipeline is gone', async () => {
    await using db = await testMysqlDatabase(name);
    await db.pool.query(outboxTable);
    const owner = await Follower.start(db.url);
    const waiting = Follower.start(db.url, { storage: owner.storage });
    await insert(db.pool, 'a');
    await owner.untilEvents(1);
    await owner.stop();
    await using next = await waiting;
    await insert(db.pool, 'b');
    await next.untilEvents(1);
    expect([owner.payloads, next.payloads]).toEqual([['a'], ['b']]);
  });
});

async function resetLog({ pool }: TestMysqlDatabase): Promise<void> {
  const parseError = 1064;
  await pool.query('RESET BINARY LOGS AND GTIDS').catch((error: unknown) => {
    if ((error as { errno: number }).errno !== parseError) throw error;
    return pool.query('RESET MASTER'); // MariaDB, and MySQL before 8.2
  });
}
