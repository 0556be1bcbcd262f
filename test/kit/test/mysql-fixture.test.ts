import { startMariadb, startMysql, type MysqlServer } from '@strandline/servers';
import { ServersOnDemand, testMysqlDatabase, uniqueServerId, waitUntil } from '@strandline/test-kit';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shortenLog } from '../src/servers-on-demand.js';

describe.each([
  { kind: 'mysql' as const, start: startMysql },
  { kind: 'mariadb' as const, start: startMariadb },
])('a $kind database of one test', { timeout: 30_000 }, ({ kind, start }) => {
  let server: MysqlServer;
  beforeAll(async () => {
    server = await start();
  }, 120_000);
  afterAll(() => server[Symbol.asyncDispose](), 60_000);

  const remains = async (name: string): Promise<unknown> => {
    const connection = await mysql.createConnection(server.url);
    const [rows] = await connection.query(
      'SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ? UNION SELECT User FROM mysql.user WHERE User = ?',
      [name, name],
    );
    await connection.end();
    return rows;
  };

  test('goes with its user and connections', async () => {
    let name: string;
    {
      await using db = await testMysqlDatabase(kind, server.url);
      name = db.name;
      await db.pool.query('CREATE TABLE outbox (id BIGINT PRIMARY KEY)');
      await Promise.all([1, 2, 3].map((id) => db.pool.query('INSERT INTO outbox VALUES (?)', [id])));
      const checkedOut = await db.pool.getConnection();
      await checkedOut.query('START TRANSACTION');
      await checkedOut.query('SELECT * FROM outbox');
      checkedOut.release(); // with its transaction open
      await db.waitFor('the rows are there', 'SELECT COUNT(*) = ? FROM outbox', [3]);
    }
    expect(await remains(name)).toEqual([]);
  });

  test('goes while its user reads the binlog, and the reader is named', async () => {
    const db = await testMysqlDatabase(kind, server.url);
    const url = Object.assign(new URL(db.url), { pathname: '/' });
    const reader = await mysql.createConnection(url.href);
    reader.on('error', () => undefined);
    await reader.query('SET @master_binlog_checksum = @@global.binlog_checksum');
    const dump = (reader as unknown as { connection: { stream: { write(packet: Buffer): void } } })
      .connection;
    dump.stream.write(binlogDump(db.serverId()));
    await db.waitFor(
      'the reader is served',
      `SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = ? AND COMMAND LIKE 'Binlog Dump%'`,
      [db.name],
    );
    await expect(db[Symbol.asyncDispose]()).rejects.toThrow(/left connections open.*Binlog Dump/);
    expect(await remains(db.name)).toEqual([]);
    reader.destroy();
  });

  test('a connection that was not released fails the test, and the database still goes', async () => {
    const db = await testMysqlDatabase(kind, server.url);
    await db.pool.getConnection();
    await expect(db[Symbol.asyncDispose]()).rejects.toThrow(/left connections open.*Sleep/);
    expect(await remains(db.name)).toEqual([]);
  });

  test('what is left under its name fails the test', async () => {
    const db = await testMysqlDatabase(kind, server.url);
    await db.pool.query(`CREATE DATABASE ${db.name}_other`);
    await expect(db[Symbol.asyncDispose]()).rejects.toThrow(`leaves behind: database ${db.name}_other`);
    await server.dropDatabase(`${db.name}_other`);
  });

  test('its server has only a short log when nobody has used it', async () => {
    const db = await testMysqlDatabase(kind, server.url);
    const logs = async (): Promise<string[]> =>
      (await db.pool.query<mysql.RowDataPacket[]>('SHOW BINARY LOGS'))[0].map((log) =>
        String(log['Log_name']),
      );
    await db.pool.query('FLUSH BINARY LOGS');
    const [first, second] = await logs();
    await shortenLog(server);
    expect(await logs()).toEqual([first, second]);

    await db.pool.query('CREATE TABLE wide (payload LONGTEXT)');
    await db.pool.query("INSERT INTO wide VALUES (REPEAT('x', 5 * 1024 * 1024))");
    // A log that the server still needs, or a reader has only just left, stays for a while.
    await waitUntil('all that was written is purged', async () => {
      await shortenLog(server);
      return !(await logs()).includes(second ?? '');
    });
    await db[Symbol.asyncDispose]();
  });
});

test('a server on demand is started once, when it is asked for, and only by who knows where', async () => {
  await using onDemand = await ServersOnDemand.listen();
  // The answer goes on for as long as the server is used.
  const ask = async (url: string): Promise<string> => {
    const answer = await fetch(url);
    await answer.body?.cancel();
    return answer.headers.get('location') ?? expect.fail(`${String(answer.status)} for an answer`);
  };
  const [one, other] = await Promise.all([
    ask(`${onDemand.address}mariadb`),
    ask(`${onDemand.address}mariadb`),
  ]);
  expect(one).toBe(other);
  await using db = await testMysqlDatabase('mariadb', one);
  await db.waitFor('it serves', 'SELECT 1');
  expect((await fetch(new URL('/mariadb', onDemand.address))).status).toBe(404);
  expect((await fetch(`${onDemand.address}oracle`)).status).toBe(404);
}, 120_000);

test('server ids of readers differ', () => {
  const ids = Array.from({ length: 1_000 }, uniqueServerId);
  expect(new Set(ids).size).toBeGreaterThan(995);
  expect(Math.min(...ids)).toBeGreaterThanOrEqual(2 ** 30);
});

/** COM_BINLOG_DUMP from the start of the first file, as a packet of the protocol. */
function binlogDump(serverId: number): Buffer {
  const body = Buffer.alloc(11);
  body.writeUInt8(0x12, 0);
  body.writeUInt32LE(4, 1);
  body.writeUInt32LE(serverId, 7);
  const file = Buffer.from('binlog.000001');
  const header = Buffer.alloc(4);
  header.writeUIntLE(body.length + file.length, 0, 3);
  return Buffer.concat([header, body, file]);
}
