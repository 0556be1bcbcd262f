import { existsSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPostgres, type PostgresServer } from '../src/index.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ exclusive: true });
}, 60_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
}, 30_000);

async function query<Row extends pg.QueryResultRow>(
  url: string,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end();
  }
}

describe('a Postgres of one’s own', () => {
  test('is set up for logical replication, in UTF8 and locale C', async () => {
    const rows = await query(
      server.url,
      `SELECT current_setting('wal_level') wal, current_setting('server_encoding') encoding,
        current_setting('max_replication_slots')::int slots, datcollate collate
      FROM pg_database WHERE datname = current_database()`,
    );
    expect(rows).toEqual([{ wal: 'logical', encoding: 'UTF8', slots: 64, collate: 'C' }]);
  });

  test('asks for its password', async () => {
    const url = new URL(server.url);
    expect(url.password).toMatch(/^[0-9a-f]{24}$/);
    url.password = 'wrong';
    await expect(query(url.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  });

  test('listens on a port from which no client is sent', () => {
    expect(server.port).toBeLessThan(32_768);
  });

  test('takes any database name', async () => {
    const url = await server.createDatabase('a "b" ü');
    expect(await query(url, 'SELECT current_database() name')).toEqual([{ name: 'a "b" ü' }]);
    await server.dropDatabase('a "b" ü');
    await expect(query(url, 'SELECT 1')).rejects.toMatchObject({ code: '3D000' });
  });

  test('drops a database with its slots and its readers', async () => {
    const url = await server.createDatabase('read');
    await query(url, 'CREATE PUBLICATION p FOR ALL TABLES');
    await query(url, `SELECT pg_create_logical_replication_slot('being_read', 'pgoutput')`);
    const reader = new pg.Client({ connectionString: url, replication: 'database' } as pg.ClientConfig);
    reader.on('error', () => undefined);
    await reader.connect();
    reader
      .query(`START_REPLICATION SLOT being_read LOGICAL 0/0 (proto_version '1', publication_names 'p')`)
      .catch(() => undefined);
    const isActive = `SELECT 1 FROM pg_replication_slots WHERE slot_name = 'being_read' AND active`;
    await expect.poll(() => query(url, isActive), { timeout: 5_000, interval: 20 }).toHaveLength(1);
    await server.dropDatabase('read');
    expect(await query(server.url, `SELECT slot_name FROM pg_replication_slots`)).toEqual([]);
  });
});

describe('a Postgres that ends', () => {
  const refused = expect.objectContaining({ code: 'ECONNREFUSED' }) as unknown;

  test('comes back from SIGKILL on the same port with what was committed', async () => {
    const { port } = server;
    await query(server.url, 'CREATE TABLE committed AS SELECT 1 AS n');
    await server.kill();
    await expect(query(server.url, 'SELECT 1')).rejects.toEqual(refused);
    await server.start();
    expect(server.port).toBe(port);
    expect(await query(server.url, 'SELECT n FROM committed')).toEqual([{ n: 1 }]);
  });

  test.each(['fast', 'immediate'] as const)('comes back from a stop that is %s', async (mode) => {
    await server.stop(mode);
    await expect(query(server.url, 'SELECT 1')).rejects.toEqual(refused);
    await server.start();
    expect(await query(server.url, 'SELECT n FROM committed')).toEqual([{ n: 1 }]);
  });

  test('can be killed and stopped twice', async () => {
    await server.kill();
    await server.kill();
    await server.stop();
    await server.restart();
    await server.start();
    expect(await query(server.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  });
});

test('settings override the defaults, and the data goes with the server', async () => {
  const other = await startPostgres({ settings: { fsync: 'on', max_connections: '20' } });
  const sql = `SELECT current_setting('fsync') fsync, current_setting('max_connections') connections`;
  expect(await query(other.url, sql)).toEqual([{ fsync: 'on', connections: '20' }]);
  await other[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  if (other.dataDirectory !== undefined) expect(existsSync(other.dataDirectory)).toBe(false);
}, 30_000);

test('a server that does not come up says why, in its own words', async () => {
  await expect(startPostgres({ settings: { wal_level: 'nonsense' } })).rejects.toMatchObject({
    code: 'SERVER_START_FAILED',
    message: expect.stringContaining('invalid value for parameter "wal_level": "nonsense"') as string,
  });
}, 30_000);
