import { startMariadb, startMysql, type MysqlServer } from '@strandline/servers';
import { testMysqlDatabase, type MysqlServerKind, type TestMysqlDatabase } from '@strandline/test-kit';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { PoolConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bothKinds, Follower, insert, outboxTable } from './mysql-follower.js';

/** Of this file alone: what is logged as a statement here would stop the pipelines of others. */
const servers = new Map<MysqlServerKind, Promise<MysqlServer>>();

async function serverUrlOf(kind: MysqlServerKind): Promise<string> {
  const server = servers.get(kind) ?? startOwn(kind);
  servers.set(kind, server);
  return (await server).url;
}

afterAll(async () => {
  for (const server of servers.values()) await (await server)[Symbol.asyncDispose]();
});

async function outboxDatabase(kind: MysqlServerKind, server?: string): Promise<TestMysqlDatabase> {
  const db = await testMysqlDatabase(kind, server ?? (await serverUrlOf(kind)));
  await db.pool.query(outboxTable);
  return db;
}

/** Settings of a session must not come back with its connection. */
async function inSession(
  db: TestMysqlDatabase,
  settings: readonly string[],
  work: (session: PoolConnection) => Promise<unknown>,
): Promise<void> {
  const session = await db.pool.getConnection();
  try {
    for (const setting of settings) await session.query(setting);
    await work(session);
  } finally {
    session.destroy();
  }
}

function startOwn(kind: MysqlServerKind, settings: Record<string, string> = {}): Promise<MysqlServer> {
  const options = { exclusive: true, settings };
  return kind === 'mysql' ? startMysql(options) : startMariadb(options);
}

/** What was committed before comes; what comes at the wrong statement and after it does not. */
async function expectStop(
  follower: Follower,
  db: TestMysqlDatabase,
  code: string,
  words: RegExp,
  before: readonly string[] = ['before'],
): Promise<void> {
  await insert(db.pool, 'after');
  const error = await follower.untilFailed();
  expect(error).toMatchObject({ code });
  expect(error.message).toMatch(words);
  expect(follower.payloads).toEqual(before);
  await follower.stop();
}

const statements: readonly (readonly [string, readonly string[], string])[] = [
  ['an INSERT', [], "INSERT INTO outbox (`key`, payload) VALUES ('k', 's')"],
  ['an INSERT … SELECT', [], "INSERT INTO outbox (`key`, payload) SELECT 'k', 's'"],
  ['a REPLACE', [], "REPLACE INTO outbox (id, `key`, payload) VALUES (100, 'k', 's')"],
  [
    'a procedure',
    ["CREATE PROCEDURE put() INSERT INTO outbox (`key`, payload) VALUES ('k', 's')"],
    'CALL put()',
  ],
  [
    'a function',
    [
      "CREATE FUNCTION put() RETURNS int DETERMINISTIC MODIFIES SQL DATA BEGIN INSERT INTO outbox (`key`, payload) VALUES ('k', 's'); RETURN 1; END",
    ],
    'SELECT put()',
  ],
  [
    'a function within another statement',
    [
      'CREATE TABLE orders (n int)',
      "CREATE FUNCTION put() RETURNS int DETERMINISTIC MODIFIES SQL DATA BEGIN INSERT INTO outbox (`key`, payload) VALUES ('k', 's'); RETURN 1; END",
    ],
    'INSERT INTO orders SELECT put()',
  ],
  [
    'a trigger of another table',
    [
      'CREATE TABLE orders (n int)',
      "CREATE TRIGGER orders_outbox AFTER INSERT ON orders FOR EACH ROW INSERT INTO outbox (`key`, payload) VALUES ('k', 's')",
    ],
    'INSERT INTO orders VALUES (1)',
  ],
  [
    'a trigger that calls a procedure',
    [
      'CREATE TABLE orders (n int)',
      "CREATE PROCEDURE put() INSERT INTO outbox (`key`, payload) VALUES ('k', 's')",
      'CREATE TRIGGER orders_outbox AFTER INSERT ON orders FOR EACH ROW CALL put()',
    ],
    'INSERT INTO orders VALUES (1)',
  ],
  [
    'a view',
    ['CREATE VIEW events_to_send AS SELECT `key`, payload FROM outbox'],
    "INSERT INTO events_to_send VALUES ('k', 's')",
  ],
];

describe.each(bothKinds)('a change of the outbox that was logged as a statement: %s', (kind) => {
  const inStatements = ['SET SESSION binlog_format = STATEMENT'];

  test.each(statements)('%s stops the stream before it', async (_, setUp, statement) => {
    await using db = await outboxDatabase(kind);
    await inSession(db, ['SET GLOBAL log_bin_trust_function_creators = ON'], async (session) => {
      for (const step of setUp) await session.query(step);
    });
    await using follower = await Follower.start(db.url);
    await insert(db.pool, 'before');
    await inSession(db, inStatements, (session) => session.query(statement));
    await expectStop(follower, db, 'MYSQL_STATEMENT', /binlog_format/);
  });

  test('LOAD DATA stops the stream before it', async () => {
    await using server = await startOwn(kind);
    await using db = await outboxDatabase(kind, server.url);
    const file = path.join(server.dataDirectory ?? '/tmp', 'rows.txt');
    await writeFile(file, 'k\ts\n', { mode: 0o644 });
    await using follower = await Follower.start(db.url);
    await insert(db.pool, 'before');
    await inSession(db, inStatements, (session) =>
      session.query(`LOAD DATA INFILE '${file}' INTO TABLE outbox (\`key\`, payload)`),
    );
    await expectStop(follower, db, 'MYSQL_STATEMENT', /LOAD DATA/);
  });

  test('what was inserted as rows in the same transaction is not handed out either', async () => {
    await using db = await outboxDatabase(kind);
    await using follower = await Follower.start(db.url);
    await insert(db.pool, 'before');
    const session = await db.pool.getConnection();
    await session.query('SET SESSION binlog_format = MIXED');
    await session.beginTransaction();
    // Not deterministic: logged as a row.
    await session.query("INSERT INTO outbox (`key`, payload) SELECT 'k', UUID()");
    await session.query("INSERT INTO outbox (`key`, payload) VALUES ('k', 'as a statement')");
    await session.commit();
    session.destroy();
    await expectStop(follower, db, 'MYSQL_STATEMENT', /INSERT INTO/);
  });

  test('a trigger that was created while the log is read is known too', async () => {
    await using db = await outboxDatabase(kind);
    await db.pool.query('CREATE TABLE orders (n int)');
    await using follower = await Follower.start(db.url);
    await insert(db.pool, 'before');
    await inSession(db, inStatements, (session) => session.query('INSERT INTO orders VALUES (1)'));
    await inSession(db, ['SET GLOBAL log_bin_trust_function_creators = ON'], (session) =>
      session.query(
        "CREATE TRIGGER orders_outbox AFTER INSERT ON orders FOR EACH ROW INSERT INTO outbox (`key`, payload) VALUES ('k', 's')",
      ),
    );
    await inSession(db, inStatements, (session) => session.query('INSERT INTO orders VALUES (1)'));
    await expectStop(follower, db, 'MYSQL_STATEMENT', /INSERT INTO/);
  });

  test('a procedure that comes to write the outbox only later is followed from what calls it', async () => {
    await using db = await outboxDatabase(kind);
    await inSession(db, ['SET GLOBAL log_bin_trust_function_creators = ON'], async (session) => {
      await session.query('CREATE TABLE orders (n int)');
      await session.query('CREATE PROCEDURE put() DO 1');
      await session.query('CREATE TRIGGER orders_put AFTER INSERT ON orders FOR EACH ROW CALL put()');
    });
    await using follower = await Follower.start(db.url);
    await inSession(db, inStatements, async (session) => {
      await session.query('INSERT INTO orders VALUES (1)');
      await session.query('DROP PROCEDURE put');
      await session.query("CREATE PROCEDURE put() INSERT INTO outbox (`key`, payload) VALUES ('k', 's')");
    });
    await insert(db.pool, 'before');
    await inSession(db, inStatements, (session) => session.query('INSERT INTO orders VALUES (1)'));
    await expectStop(follower, db, 'MYSQL_STATEMENT', /INSERT INTO/);
  });

  test('statements on other tables do not stop it', async () => {
    await using db = await outboxDatabase(kind);
    await inSession(db, ['SET GLOBAL log_bin_trust_function_creators = ON'], async (session) => {
      await session.query('CREATE TABLE outbox_archive (n int)');
      await session.query('CREATE TABLE orders (n int)');
      await session.query(
        'CREATE TRIGGER orders_archive AFTER INSERT ON orders FOR EACH ROW INSERT INTO outbox_archive VALUES (1)',
      );
      await session.query(
        'CREATE FUNCTION count_up() RETURNS int DETERMINISTIC MODIFIES SQL DATA BEGIN INSERT INTO outbox_archive VALUES (1); RETURN 1; END',
      );
    });
    await using follower = await Follower.start(db.url);
    // One that is made while the log is read, too.
    await inSession(db, ['SET GLOBAL log_bin_trust_function_creators = ON'], (session) =>
      session.query(
        'CREATE FUNCTION count_on() RETURNS int DETERMINISTIC MODIFIES SQL DATA BEGIN INSERT INTO outbox_archive VALUES (1); RETURN 1; END',
      ),
    );
    await inSession(db, inStatements, async (session) => {
      await session.query('SELECT count_on()');
      await session.query('INSERT INTO outbox_archive VALUES (1)');
      await session.query('INSERT INTO orders VALUES (1)');
      await session.query('DELETE FROM orders');
      await session.query('SELECT count_up()');
    });
    await insert(db.pool, 'after');
    await follower.untilEvents(1);
    expect(follower.payloads).toEqual(['after']);
  });
});

describe.each(bothKinds)('rows that lack something: %s', (kind) => {
  test.each(['MINIMAL', 'NOBLOB'])('an image without a mapped column stops it: %s', async (image) => {
    await using db = await outboxDatabase(kind);
    await using follower = await Follower.start(db.url);
    await insert(db.pool, 'before');
    const setting = `SET SESSION binlog_row_image = ${image}`;
    // Of an insert these images have what was given a value: the payload is left out.
    await inSession(db, [setting], (session) => session.query("INSERT INTO outbox (`key`) VALUES ('k')"));
    await expectStop(follower, db, 'MYSQL_ROW_IMAGE', /binlog_row_image/);
  });

  test('an image without columns that nobody maps is enough', async () => {
    await using db = await outboxDatabase(kind);
    await db.pool.query('ALTER TABLE outbox ADD note text');
    await using follower = await Follower.start(db.url);
    await inSession(db, ['SET SESSION binlog_row_image = MINIMAL'], (session) => insert(session, 'minimal'));
    await follower.untilEvents(1);
    expect(follower.payloads).toEqual(['minimal']);
  });

  test('changes of rows do not stop it, whatever of them the log has', async () => {
    await using db = await outboxDatabase(kind);
    await db.pool.query('ALTER TABLE outbox ADD data json');
    const settings = ['SET SESSION binlog_row_image = MINIMAL'];
    if (kind === 'mysql') settings.push("SET SESSION binlog_row_value_options = 'PARTIAL_JSON'");
    await using follower = await Follower.start(db.url);
    await inSession(db, settings, async (session) => {
      await session.query(
        `INSERT INTO outbox (\`key\`, payload, data) VALUES ('k', 'x', '{"a": 1, "b": "${'x'.repeat(200)}"}')`,
      );
      await session.query("UPDATE outbox SET data = JSON_SET(data, '$.a', 2)");
      await session.query('DELETE FROM outbox');
    });
    await insert(db.pool, 'after');
    await follower.untilEvents(2);
    expect(follower.payloads).toEqual(['x', 'after']);
  });
});

describe.each(bothKinds)('DDL in the middle of the stream: %s', (kind) => {
  /** Each is followed by an insert; what then comes must be right, or the stream must have stopped. */
  const harmless = [
    'ALTER TABLE outbox ADD note varchar(20) FIRST',
    'ALTER TABLE outbox ADD other varchar(20) AFTER `key`',
    'ALTER TABLE outbox MODIFY payload longtext FIRST',
    'ALTER TABLE outbox MODIFY payload varchar(300) AFTER id',
    'ALTER TABLE outbox DROP COLUMN other',
    'ALTER TABLE outbox RENAME COLUMN note TO remark',
    'ALTER TABLE outbox RENAME COLUMN remark TO payload, RENAME COLUMN payload TO remark',
    'TRUNCATE TABLE outbox',
    'RENAME TABLE outbox TO outbox_old',
    'CREATE TABLE outbox LIKE outbox_old',
    'DROP TABLE outbox_old',
  ];

  test('with names in the log each row is read by the layout that it was written with', async () => {
    await using db = await outboxDatabase(kind);
    // Held back, so that the table is several layouts further on when rows are read.
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await using follower = await Follower.start(db.url, { onEvent: () => held });
    const expected: string[] = [];
    for (const [index, statement] of harmless.entries()) {
      await db.pool.query(statement);
      if (statement.startsWith('RENAME TABLE')) continue;
      expected.push(`p${String(index)}`);
      await insert(db.pool, `p${String(index)}`);
    }
    release();
    await follower.untilEvents(expected.length);
    expect(follower.payloads).toEqual(expected);
    expect(new Set(follower.events.map(({ key }) => key))).toEqual(new Set(['k']));
  });

  test.each([
    ['dropped', 'ALTER TABLE outbox DROP COLUMN payload'],
    ['renamed', 'ALTER TABLE outbox RENAME COLUMN payload TO body'],
  ])('a mapped column that is %s stops it before the first row without it', async (_, statement) => {
    await using db = await outboxDatabase(kind);
    await using follower = await Follower.start(db.url);
    await insert(db.pool, 'before');
    await db.pool.query(statement);
    await db.pool.query("INSERT INTO outbox (`key`) VALUES ('k')");
    const error = await follower.untilFailed();
    expect(error).toMatchObject({ code: 'MYSQL_COLUMN_MISSING' });
    expect(error.message).toContain('payload');
    expect(follower.payloads).toEqual(['before']);
  });
});

test.each(bothKinds)(
  'rows of another table are not taken for the outbox where table ids are used again: %s',
  async (kind) => {
    await using server = await startOwn(kind);
    await using db = await outboxDatabase(kind, server.url);
    await db.pool.query('CREATE TABLE orders LIKE outbox');
    await using follower = await Follower.start(db.url);
    const expected: string[] = [];
    for (const [round, first] of ['outbox', 'orders', 'outbox', 'orders'].entries()) {
      // Ids are given anew from the start on, in the order in which tables are opened.
      if (round > 0) await server.restart();
      for (const table of first === 'outbox' ? ['outbox', 'orders'] : ['orders', 'outbox']) {
        const payload = `${table} ${String(round)}`;
        await db.pool.query(`INSERT INTO ${table} (\`key\`, payload) VALUES ('k', ?)`, [payload]);
        if (table === 'outbox') expected.push(payload);
      }
    }
    await follower.untilEvents(expected.length);
    expect(follower.payloads).toEqual(expected);
  },
);

describe.each(bothKinds)('a log without names (binlog_row_metadata = MINIMAL): %s', (kind) => {
  let server: MysqlServer;
  const lookalike =
    "ALTER TABLE outbox MODIFY `key` varchar(255) NOT NULL DEFAULT 'd', ADD other varchar(255) NOT NULL DEFAULT 'd'";
  beforeAll(async () => {
    server = await startOwn(kind, { 'binlog-row-metadata': 'MINIMAL' });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('is refused unless it is asked for', async () => {
    await using db = await outboxDatabase(kind, server.url);
    await expect(Follower.start(db.url)).rejects.toMatchObject({ code: 'MYSQL_ROW_METADATA' });
  });

  test('a setting that changes later stops the stream before the first row without names', async () => {
    await using own = await startOwn(kind);
    await using db = await outboxDatabase(kind, own.url);
    await using follower = await Follower.start(db.url);
    await insert(db.pool, 'before');
    await db.pool.query('SET GLOBAL binlog_row_metadata = MINIMAL');
    await db.pool.query('FLUSH TABLES');
    await expectStop(follower, db, 'MYSQL_ROW_METADATA', /binlog_row_metadata/);
  });

  test("is read with metadata: 'minimal', however slow the handlers are", async () => {
    await using db = await outboxDatabase(kind, server.url);
    await using follower = await Follower.start(db.url, {
      metadata: 'minimal',
      onEvent: () =>
        follower.events.length % 4_000 === 0 ? new Promise((resolve) => setTimeout(resolve, 50)) : undefined,
    });
    const expected: string[] = [];
    for (let n = 0; n < 20; n += 1) {
      const payloads = Array.from({ length: 1_000 }, (_, index) => `${String(n)}.${String(index)}`);
      expected.push(...payloads);
      await insert(db.pool, ...payloads);
      // The table gets another id in the log, and is looked up again.
      await db.pool.query('FLUSH TABLES outbox');
    }
    await follower.untilEvents(expected.length);
    expect(follower.payloads).toEqual(expected);
  });

  test.each([
    'ALTER TABLE outbox ADD note varchar(20) FIRST',
    'ALTER TABLE outbox MODIFY payload longtext FIRST',
    'ALTER TABLE outbox MODIFY id int unsigned AUTO_INCREMENT',
    'ALTER TABLE outbox MODIFY payload text',
    'ALTER TABLE outbox RENAME COLUMN `key` TO other, RENAME COLUMN other TO `key`',
  ])('a changed layout stops it: %s', async (statement) => {
    await using db = await outboxDatabase(kind, server.url);
    await db.pool.query(lookalike);
    await using follower = await Follower.start(db.url, { metadata: 'minimal' });
    await insert(db.pool, 'before');
    await follower.untilEvents(1);
    await db.pool.query(statement);
    await expectStop(follower, db, 'MYSQL_TABLE_CHANGED', /outbox/);
    // With the new layout it goes on where it stopped.
    await using next = await Follower.start(db.url, { metadata: 'minimal', storage: follower.storage });
    await insert(db.pool, 'later');
    await next.untilEvents(2);
    expect(next.payloads).toEqual(['after', 'later']);
    expect(new Set(next.events.map(({ key }) => key))).toEqual(new Set(['k']));
    await next.stop();
  });

  test('rows of a former layout that looks the same are not read with the new names', async () => {
    await using db = await outboxDatabase(kind, server.url);
    await db.pool.query(lookalike);
    const first = await Follower.start(db.url, { metadata: 'minimal' });
    await insert(db.pool, 'before');
    await first.untilEvents(1);
    await first.stop();
    await insert(db.pool, 'in the former layout');
    await db.pool.query('ALTER TABLE outbox RENAME COLUMN `key` TO other, RENAME COLUMN other TO `key`');
    await insert(db.pool, 'in the new layout');
    const next = Follower.start(db.url, { metadata: 'minimal', storage: first.storage });
    const error: unknown = await next.then(
      async (follower) => {
        try {
          return await follower.untilFailed();
        } finally {
          await follower.stop();
        }
      },
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: 'MYSQL_TABLE_CHANGED' });
  });
});
