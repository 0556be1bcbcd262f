import { startMariadb, startMysql, startReplica, type MysqlServer } from '@strandline/servers';
import {
  TestLog,
  testMysqlDatabase,
  waitUntil,
  type MysqlServerKind,
  type TestMysqlDatabase,
} from '@strandline/test-kit';
import type { Offset } from '@strandline/core';
import { definePipeline, memoryOffsets, mysql, type Pipeline } from 'strandline';
import { describe, expect, test } from 'vitest';
import { bothKinds, Follower, insert, outboxTable, refusal } from './mysql-follower.js';

async function outboxDatabase(kind: MysqlServerKind, server?: string): Promise<TestMysqlDatabase> {
  const db = await testMysqlDatabase(kind, server);
  await db.pool.query(outboxTable);
  return db;
}

function startOwn(kind: MysqlServerKind, settings: Record<string, string>): Promise<MysqlServer> {
  const options = { exclusive: true, settings };
  return kind === 'mysql' ? startMysql(options) : startMariadb(options);
}

function changed(url: string, change: (url: URL) => void): string {
  const other = new URL(url);
  change(other);
  return other.href;
}

const outbox = { table: 'outbox', id: 'id', key: 'key', payload: 'payload' };

describe.each(bothKinds)('what can not work says why and what to do: %s', (kind) => {
  test('a server that nobody can reach', async () => {
    await using db = await outboxDatabase(kind);
    const url = changed(db.url, (other) => {
      other.port = '1';
    });
    const error = await refusal(url);
    expect(error).toMatchObject({ code: 'MYSQL_UNREACHABLE', transient: true });
    expect(error.message).toContain('127.0.0.1:1');
    expect(error.message).not.toContain(new URL(url).password);
  });

  test('a wrong password, of which the message says nothing', async () => {
    await using db = await outboxDatabase(kind);
    const url = changed(db.url, (other) => {
      other.password = 'wrong-secret';
    });
    const error = await refusal(url);
    expect(error).toMatchObject({ code: 'MYSQL_AUTHENTICATION' });
    expect(JSON.stringify(error) + error.message + String(error.stack)).not.toContain('wrong-secret');
  });

  test('a database, a table or a column that is not there', async () => {
    await using db = await outboxDatabase(kind);
    const elsewhere = changed(db.url, (other) => {
      other.pathname = '/no_such_database';
    });
    expect(await refusal(elsewhere)).toMatchObject({ code: 'MYSQL_DATABASE_MISSING' });
    const nowhere = changed(db.url, (other) => {
      other.pathname = '/';
    });
    expect(await refusal(nowhere)).toMatchObject({ code: 'MYSQL_TABLE_MISSING' });
    expect(await refusal(db.url, { outbox: { ...outbox, table: 'outbocks' } })).toMatchObject({
      code: 'MYSQL_TABLE_MISSING',
    });
    const error = await refusal(db.url, { outbox: { ...outbox, key: 'order_id' } });
    expect(error).toMatchObject({ code: 'MYSQL_COLUMN_MISSING' });
    expect(error.message).toContain('order_id');
  });

  test('a view, and a table whose rows do not roll back', async () => {
    await using db = await outboxDatabase(kind);
    await db.pool.query('CREATE VIEW seen AS SELECT * FROM outbox');
    await db.pool.query('CREATE TABLE loose LIKE outbox');
    await db.pool.query('ALTER TABLE loose ENGINE = MyISAM');
    expect(await refusal(db.url, { outbox: { ...outbox, table: 'seen' } })).toMatchObject({
      code: 'MYSQL_TABLE_MISSING',
    });
    expect(await refusal(db.url, { outbox: { ...outbox, table: 'loose' } })).toMatchObject({
      code: 'MYSQL_TABLE_ENGINE',
    });
  });

  test.each([
    ['MYSQL_BINLOG_FORMAT', { 'binlog-format': 'MIXED' }, 'binlog_format'],
    ['MYSQL_BINLOG_FORMAT', { 'binlog-format': 'STATEMENT' }, 'binlog_format'],
    ['MYSQL_ROW_IMAGE', { 'binlog-row-image': 'MINIMAL' }, 'binlog_row_image'],
  ])('%s: a server that logs in another way, %j', async (code, settings, name) => {
    await using server = await startOwn(kind, settings);
    await using db = await outboxDatabase(kind, server.url);
    const error = await refusal(db.url);
    expect(error).toMatchObject({ code });
    expect(error.message).toContain(name);
  });

  test('MYSQL_NOT_LOGGED: a server whose filters keep the database out of its log', async () => {
    await using server = await startOwn(kind, { 'binlog-do-db': 'elsewhere' });
    await using db = await outboxDatabase(kind, server.url);
    const error = await refusal(db.url);
    expect(error).toMatchObject({ code: 'MYSQL_NOT_LOGGED' });
    expect(error.message).toContain('binlog-do-db names elsewhere only');
  });

  test('MYSQL_NOT_LOGGED: a replica that does not log what it replicates', async () => {
    await using source = await startOwn(kind, {});
    await using db = await outboxDatabase(kind, source.url);
    await using replica = await startReplica(source, { settings: { 'log-slave-updates': 'OFF' } });
    const url = changed(db.url, (other) => {
      other.port = String(replica.port);
    });
    expect(await refusal(url)).toMatchObject({ code: 'MYSQL_NOT_LOGGED' });
  });

  test('and one that replicates nothing is read, also by a user who may not see that it does not', async () => {
    await using server = await startOwn(kind, { 'log-slave-updates': 'OFF' });
    await using db = await outboxDatabase(kind, server.url);
    await using user = await userWith(db, ['REPLICATION SLAVE', 'REPLICATION CLIENT', 'SELECT']);
    await using follower = await Follower.start(user.url, { start: 'earliest' });
    await insert(db.pool, 'a row');
    await follower.untilEvents(1);
    const warned = follower.log.has('log_replica_updates');
    // MySQL shows it to who may see where its log stands.
    expect(warned).toBe(kind === 'mariadb');
  });

  test.each([
    ['REPLICATION SLAVE', ['REPLICATION CLIENT', 'SELECT']],
    ['REPLICATION CLIENT', ['REPLICATION SLAVE', 'SELECT']],
    ['SELECT', ['REPLICATION SLAVE', 'REPLICATION CLIENT']],
  ])('a user without %s', async (missing, privileges) => {
    await using db = await outboxDatabase(kind);
    await using user = await userWith(db, privileges);
    const storage = new Map<string, Offset>();
    const error = await refusal(user.url, { storage });
    expect(storage.size, 'a start that fails leaves no offset behind').toBe(0);
    // A table that may not be read looks like one that is not there.
    expect(error.code).toBe(missing === 'SELECT' ? 'MYSQL_TABLE_MISSING' : 'MYSQL_PRIVILEGE');
    expect(error.message).toMatch(/grant/i);
  });

  test('a user with these three is enough, and on MySQL, at the first start, the sight of undecided XA', async () => {
    await using db = await outboxDatabase(kind);
    await using user = await userWith(db, ['REPLICATION SLAVE', 'REPLICATION CLIENT', 'SELECT']);
    if (kind === 'mysql') await db.pool.query(`GRANT XA_RECOVER_ADMIN ON *.* TO ${user.account}`);
    const first = await Follower.start(user.url);
    await first.stop();
    if (kind === 'mysql') await db.pool.query(`REVOKE XA_RECOVER_ADMIN ON *.* FROM ${user.account}`);
    await using follower = await Follower.start(user.url, { storage: first.storage });
    await insert(db.pool, 'a');
    await follower.untilEvents(1);
    expect(follower.payloads).toEqual(['a']);
    // It may not see which triggers there are: a statement on any table may have set one off.
    await db.pool.query('CREATE TABLE orders (n int)');
    const session = await db.pool.getConnection();
    await session.query('SET SESSION binlog_format = STATEMENT');
    await session.query('INSERT INTO orders VALUES (1)');
    session.destroy();
    const error = await follower.untilFailed();
    expect(error).toMatchObject({ code: 'MYSQL_STATEMENT' });
    expect(error.message).toMatch(/grant/);
  });

  test('a key that is NULL, behind what came before it', async () => {
    await using db = await outboxDatabase(kind);
    await db.pool.query('ALTER TABLE outbox MODIFY `key` varchar(255)');
    await using follower = await Follower.start(db.url);
    await db.pool.query("INSERT INTO outbox (`key`, payload) VALUES ('k', 'before')");
    await db.pool.query("INSERT INTO outbox (`key`, payload) VALUES (NULL, 'without'), ('k', 'after')");
    const error = await follower.untilFailed();
    expect(error).toMatchObject({ code: 'MYSQL_NULL_KEY' });
    expect(follower.payloads).toEqual(['before']);
  });

  test("a second process that shall not stand by: standby: 'fail'", async () => {
    await using db = await outboxDatabase(kind);
    await using owner = await Follower.start(db.url);
    const error = await refusal(db.url, { storage: owner.storage, standby: 'fail' });
    expect(error).toMatchObject({ code: 'MYSQL_LOCK_HELD' });
    await insert(db.pool, 'a');
    await owner.untilEvents(1);
  });

  test.each([
    ['of a Postgres pipeline', { source: 'postgres', systemIdentifier: '7', slot: 's' }, '0/16B3748#1'],
    [
      'of another table',
      { source: 'mysql', flavour: kind, server: 's', table: 'other.outbox' },
      's;f:4;0;;;',
    ],
    [
      'of the other kind of server',
      { source: 'mysql', flavour: kind === 'mysql' ? 'mariadb' : 'mysql', server: 's', table: '' },
      's;f:4;0;;;',
    ],
  ])('an offset %s', async (_, identity, watermark) => {
    await using db = await outboxDatabase(kind);
    const offset: Offset = {
      identity:
        'table' in identity && identity.table === '' ? { ...identity, table: `${db.name}.outbox` } : identity,
      watermark,
      completed: [],
      epoch: 1,
      revision: 1,
      savedAt: new Date().toISOString(),
    };
    const storage = new Map([['follower', offset]]);
    expect(await refusal(db.url, { storage })).toMatchObject({ code: 'MYSQL_OFFSET_FOREIGN' });
    expect(storage.get('follower')).toEqual(offset);
  });

  test('no offset at all: it does not start, unless it is told where, or the offset is put back', async () => {
    await using db = await outboxDatabase(kind);
    const follower = await Follower.start(db.url);
    await follower.stop();
    const saved = follower.storage.get('follower');
    await insert(db.pool, 'k');
    // Redis was emptied, say.
    const storage = new Map<string, Offset>();
    const handled: string[] = [];
    const pipeline = (): Pipeline =>
      definePipeline({
        name: 'follower',
        source: mysql({ url: db.url, outbox }),
        offsets: memoryOffsets({ storage }),
        log: new TestLog(),
        handle: ({ id }) => void handled.push(id),
      });
    await expect(pipeline().start()).rejects.toMatchObject({ code: 'MYSQL_OFFSET_MISSING' });
    expect(storage.size).toBe(0);

    const again = pipeline();
    await again.offset.set({ position: saved?.watermark ?? '' });
    await again.start();
    await waitUntil('nothing is missing', () => handled.length === 1);
    await again.stop();
  });

  test('a position that no source has written', async () => {
    await using db = await outboxDatabase(kind);
    await using follower = await Follower.start(db.url);
    await follower.stop();
    const saved = follower.storage.get('follower');
    if (saved === undefined) throw new Error('Nothing was saved.');
    const storage = new Map([['follower', { ...saved, watermark: 'nonsense' }]]);
    expect(await refusal(db.url, { storage })).toMatchObject({ code: 'MYSQL_POSITION' });
  });
});

test.each(['now', 'snapshot'] as const)(
  'a user of MySQL who may not see undecided XA transactions, whose rows could be lost: start %s',
  async (start) => {
    await using db = await outboxDatabase('mysql');
    await using user = await userWith(db, ['REPLICATION SLAVE', 'REPLICATION CLIENT', 'SELECT']);
    await db.pool.query(`GRANT LOCK TABLES ON ${db.name}.* TO ${user.account}`);
    const storage = new Map<string, Offset>();
    const error = await refusal(user.url, { start, storage });
    expect(error).toMatchObject({ code: 'MYSQL_PRIVILEGE' });
    expect(error.message).toMatch(/grant xa_recover_admin/);
    expect(storage.size).toBe(0);
    await using follower = await Follower.start(user.url, { start, storage, undecidedXa: 'ignore' });
    await insert(db.pool, 'a');
    await follower.untilEvents(1);
    expect(follower.payloads).toEqual(['a']);
  },
);

test.each([
  ['mysql', { 'skip-log-bin': '' }],
  ['mariadb', { 'skip-log-bin': '' }],
] as const)('a server that writes no log: %s', async (kind, settings) => {
  await using server = await startOwn(kind, settings);
  await using db = await outboxDatabase(kind, server.url);
  expect(await refusal(db.url)).toMatchObject({ code: 'MYSQL_BINLOG_OFF' });
});

/** Another user, of this test's database alone, and of nothing else than what is given. */
async function userWith(
  db: TestMysqlDatabase,
  privileges: readonly string[],
): Promise<AsyncDisposable & { readonly url: string; readonly account: string }> {
  const name = `${db.name}_x`;
  const account = `'${name}'@'%'`;
  await db.pool.query(`CREATE USER ${account} IDENTIFIED BY 'reader-secret'`);
  for (const privilege of privileges) {
    const on = privilege === 'SELECT' ? `\`${db.name}\`.outbox` : '*.*';
    await db.pool.query(`GRANT ${privilege} ON ${on} TO ${account}`);
  }
  // A user without any privilege in a database may not enter it.
  if (!privileges.includes('SELECT')) await db.pool.query(`GRANT EVENT ON \`${db.name}\`.* TO ${account}`);
  return {
    account,
    url: changed(db.url, (url) => {
      url.username = name;
      url.password = 'reader-secret';
    }),
    async [Symbol.asyncDispose]() {
      await db.pool.query(`DROP USER ${account}`);
    },
  };
}
