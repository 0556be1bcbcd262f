import { existsSync } from 'node:fs';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lowestReaderId, startMariadb, startMysql, withConnection, type MysqlServer } from '../src/index.js';

const kinds = [
  { name: 'MySQL', start: startMysql, version: /^\d+\.\d+\.\d+/ },
  { name: 'MariaDB', start: startMariadb, version: /^\d+\.\d+\.\d+-MariaDB/ },
];

async function query(url: string, sql: string): Promise<mysql.RowDataPacket[]> {
  return withConnection(url, async (connection) => (await connection.query<mysql.RowDataPacket[]>(sql))[0]);
}

describe.each(kinds)('a $name of one’s own', ({ name, start, version }) => {
  const refused = expect.objectContaining({ code: 'ECONNREFUSED' }) as unknown;
  let server: MysqlServer;
  beforeAll(async () => {
    server = await start({ exclusive: true });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('writes whole rows with their column names to the binlog, in UTF-8 and UTC', async () => {
    const [row] = await query(
      server.url,
      `SELECT @@log_bin log_bin, @@binlog_format format, @@binlog_row_image image, @@binlog_row_metadata metadata,
        @@binlog_checksum checksum, @@character_set_server charset, @@time_zone zone, @@max_connections connections`,
    );
    expect(row).toEqual({
      ...{ log_bin: 1, format: 'ROW', image: 'FULL', metadata: 'FULL', checksum: 'CRC32' },
      ...{ charset: 'utf8mb4', zone: '+00:00', connections: 300 },
    });
    expect(server.version).toMatch(version);
  });

  test('has GTIDs, and a server id below those of readers', async () => {
    const variable = server.kind === 'mysql' ? '@@gtid_mode' : '@@gtid_strict_mode';
    const [row] = await query(server.url, `SELECT ${variable} gtid, @@server_id id`);
    expect(row?.['gtid']).toBe(server.kind === 'mysql' ? 'ON' : 1);
    expect(row?.['id']).toBeGreaterThan(0);
    expect(row?.['id']).toBeLessThan(lowestReaderId);
  });

  test('asks for its password', async () => {
    const url = new URL(server.url);
    expect(url.password).toMatch(/^[0-9a-f]{24}$/);
    for (const wrong of ['wrong', '']) {
      url.password = wrong;
      await expect(query(url.href, 'SELECT 1')).rejects.toMatchObject({ code: 'ER_ACCESS_DENIED_ERROR' });
    }
  });

  test('takes any database name, and drops a database under its users', async () => {
    const url = await server.createDatabase('a `b`.c ü');
    expect(await query(url, 'SELECT DATABASE() name')).toEqual([{ name: 'a `b`.c ü' }]);
    await query(url, 'CREATE TABLE t (id INT PRIMARY KEY)');
    const user = await mysql.createConnection(url);
    const isEnded = new Promise((resolve) => user.on('error', resolve));
    await user.query('START TRANSACTION');
    await user.query('SELECT * FROM t');
    await server.dropDatabase('a `b`.c ü');
    await isEnded;
    await expect(query(url, 'SELECT 1')).rejects.toMatchObject({ code: 'ER_BAD_DB_ERROR' });
    await server.dropDatabase('a `b`.c ü');
  });

  test('comes back from SIGKILL and from an orderly stop on the same port with what was committed', async () => {
    const { port } = server;
    const url = await server.createDatabase('kept');
    await query(url, 'CREATE TABLE t (id INT PRIMARY KEY)');
    await query(url, 'INSERT INTO t VALUES (1)');
    await server.kill();
    await expect(query(server.url, 'SELECT 1')).rejects.toEqual(refused);
    await server.start();
    await query(url, 'INSERT INTO t VALUES (2)');
    await server.stop();
    await expect(query(server.url, 'SELECT 1')).rejects.toEqual(refused);
    await server.start();
    expect(await query(url, 'SELECT id FROM t')).toEqual([{ id: 1 }, { id: 2 }]);
    expect(server.port).toBe(port);
    expect((await query(server.url, 'SHOW BINARY LOGS')).length).toBe(3);
  });

  test('paused, it keeps connections open and answers nothing; resumed, it answers', async () => {
    const connection = await mysql.createConnection(server.url);
    await server.pause();
    const answer = connection.query('SELECT 1 AS n');
    const first = await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 150, 'silence'))]);
    expect(first).toBe('silence');
    await server.resume();
    expect((await answer)[0]).toEqual([{ n: 1 }]);
    await connection.end();
  });

  test('can be stopped while it is paused', async () => {
    await server.pause();
    await server.stop();
    await server.stop();
    await server.start();
    expect(await query(server.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  });

  test('settings override the defaults, in both spellings, and the data goes with the server', async () => {
    const settings = {
      binlog_row_metadata: 'MINIMAL',
      'binlog-checksum': 'NONE',
      server_id: '7',
      'character-set-server': 'latin1',
    };
    const other = await start({ settings });
    const [row] = await query(
      other.url,
      'SELECT @@binlog_row_metadata m, @@binlog_checksum c, @@server_id i, @@character_set_server s',
    );
    expect(row).toEqual({ m: 'MINIMAL', c: 'NONE', i: 7, s: 'latin1' });
    await other[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
    if (other.dataDirectory !== undefined) expect(existsSync(other.dataDirectory)).toBe(false);
  });

  test('one that does not come up says why, in its own words', async () => {
    await expect(start({ settings: { 'no-such-option': '1' } })).rejects.toMatchObject({
      code: 'SERVER_START_FAILED',
      message: expect.stringMatching(
        new RegExp(`^${name}.*unknown variable 'no-such-option=1'`, 's'),
      ) as string,
    });
  });
});
