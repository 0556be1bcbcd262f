import { startTestServers, testDatabase, testRedis, type TestServers } from '@strandline/test-kit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let servers: TestServers;
beforeAll(async () => {
  servers = await startTestServers();
}, 120_000);
afterAll(() => servers[Symbol.asyncDispose](), 60_000);

const database = (): ReturnType<typeof testDatabase> => testDatabase(servers.postgres.url);
const redisPart = (): ReturnType<typeof testRedis> => testRedis(servers.redis.url);

describe('a database of one test', { timeout: 30_000 }, () => {
  test('goes with its slots, publications and connections', async () => {
    let name: string;
    {
      await using db = await database();
      name = db.name;
      await db.pool.query('CREATE TABLE outbox (id bigint PRIMARY KEY)');
      await db.pool.query(`CREATE PUBLICATION ${db.publication()} FOR TABLE outbox`);
      await db.pool.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [db.slot()]);
      await db.waitForSlot(db.slot(), 'inactive');
    }
    await using client = await connect(servers.postgres.url);
    const sql = `SELECT datname FROM pg_database WHERE datname = $1
      UNION ALL SELECT slot_name FROM pg_replication_slots WHERE starts_with(slot_name, $1)`;
    expect((await client.query(sql, [name])).rows).toEqual([]);
  });

  test('goes while a slot of it is being read, and the reader is named', async () => {
    const db = await database();
    await db.pool.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [db.slot()]);
    await db.pool.query(`CREATE PUBLICATION p FOR ALL TABLES`);
    const reader = new pg.Client({ connectionString: db.url, replication: 'database' } as pg.ClientConfig);
    reader.on('error', () => undefined);
    await reader.connect();
    const reading = reader.query(
      `START_REPLICATION SLOT ${db.slot()} LOGICAL 0/0 (proto_version '1', publication_names 'p')`,
    );
    reading.catch(() => undefined);
    await db.waitForSlot(db.slot(), 'active');
    await expect(db[Symbol.asyncDispose]()).rejects.toThrow(/left connections open.*walsender/);
    await using client = await connect(servers.postgres.url);
    const { rows } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [db.name]);
    expect(rows).toEqual([]);
  });

  test('a client that was not released fails the test, and the database still goes', async () => {
    const db = await database();
    const client = await db.pool.connect();
    client.on('error', () => undefined);
    await expect(db[Symbol.asyncDispose]()).rejects.toThrow(/left connections open.*test-kit pool/);
  });

  test('waiting says what for', async () => {
    await using db = await database();
    const never = db.waitFor('pigs fly', 'SELECT false', [], { deadlineMs: 30 });
    await expect(never).rejects.toThrow(/in vain until pigs fly/);
  });
});

test('Redis keys of one test go with it, those of others stay', async () => {
  await using other = await redisPart();
  await other.client.set(other.key('stays'), '1');
  {
    await using redis = await redisPart();
    await redis.client.hset(redis.key('a'), { x: '1' });
    await redis.client.set(redis.key('b'), '1');
    expect(await redis.keys()).toEqual([redis.key('a'), redis.key('b')]);
  }
  expect(await other.keys()).toEqual([other.key('stays')]);
});

async function connect(url: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client(url);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
