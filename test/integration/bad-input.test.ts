import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { startPgBouncer, startPostgres, type PostgresServer } from '@strandline/servers';
import { insertRows, rowsOf, testDatabase, uniqueName } from '@strandline/test-kit';
import pg from 'pg';
import type { PostgresOptions } from 'strandline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { App, changedUrl, sqlIn } from './source-app.js';

/** Commits one row per key; resolves with their ids. */
function insert(app: App, ...keys: string[]): Promise<string[]> {
  return insertRows(app.db.pool, rowsOf(...keys));
}

/** Starts a pipeline with these options, has one event handled, and stops: the pipeline has run before. */
async function runBefore(app: App, options: Partial<PostgresOptions> = {}): Promise<void> {
  const pipeline = await app.start(options);
  await insert(app, 'first');
  await app.untilHandled(1);
  await app.stop(pipeline);
}

describe('a server that is not there, or not that one', () => {
  test('nobody listens', async () => {
    await using app = await App.create();
    const url = changedUrl(app.db.url, { port: '1' });
    const error = await app.refusal(app.pipeline({ url }));
    expect(error).toMatchObject({ code: 'PG_UNREACHABLE', transient: true });
    expect(error.message).toMatch(/127\.0\.0\.1:1\/.*ECONNREFUSED/);
  });

  test('somebody listens and never answers', async () => {
    await using app = await App.create();
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const port = String((silent.address() as AddressInfo).port);
    const pipeline = app.pipeline({ url: changedUrl(app.db.url, { port }), connectTimeout: 200 });
    const error = await app.refusal(pipeline);
    expect(error).toMatchObject({ code: 'PG_UNREACHABLE' });
    expect(error.message).toMatch(/timeout/);
    silent.close();
  });

  test('the password is wrong', async () => {
    await using app = await App.create();
    const url = changedUrl(app.db.url, { password: 'wrong-s3cret' });
    const error = await app.refusal(app.pipeline({ url }));
    expect(error).toMatchObject({ code: 'PG_AUTHENTICATION', transient: false });
    expect(error.message).toMatch(/refused the login.*pg_hba\.conf/);
    expect(error.message).not.toContain('wrong-s3cret');
    expect(JSON.stringify(app.log.lines)).not.toContain('wrong-s3cret');
  });

  test('the database does not exist', async () => {
    await using app = await App.create();
    const error = await app.refusal(
      app.pipeline({ url: changedUrl(app.db.url, { pathname: '/no_such_db' }) }),
    );
    expect(error).toMatchObject({ code: 'PG_DATABASE_MISSING' });
    expect(error.message).toMatch(/no_such_db/);
  });
});

describe('rights', () => {
  /** A user of one test's own; `grants` come after `create role`. */
  async function withUser(
    app: App,
    attributes: string,
    run: (user: { readonly name: string; readonly url: string }) => Promise<void>,
  ): Promise<void> {
    const name = uniqueName();
    await app.sql(`CREATE ROLE ${name} LOGIN PASSWORD 'of-the-user' ${attributes}`);
    try {
      await run({ name, url: changedUrl(app.db.url, { username: name, password: 'of-the-user' }) });
    } finally {
      await app.sql(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
    }
  }

  test('no right to replicate: the remedy gives it', async () => {
    await using app = await App.create();
    await withUser(app, '', async ({ name, url }) => {
      const refused = await app.refusal(app.pipeline({ url }));
      expect(refused).toMatchObject({ code: 'PG_PRIVILEGE' });
      expect(refused.message).toMatch(/alter role <user> replication/);
      await app.sql(sqlIn(refused.remedy.replace('<user>', name), 'alter role'));
      expect(await app.refusal(app.pipeline({ url }))).toMatchObject({ code: 'PG_PUBLICATION_MISSING' });
    });
  });

  test('no right to create the publication: the remedy’s command, run by the owner, is enough', async () => {
    await using app = await App.create();
    await withUser(app, 'REPLICATION', async ({ url }) => {
      const refused = await app.refusal(app.pipeline({ url }));
      expect(refused).toMatchObject({ code: 'PG_PUBLICATION_MISSING' });
      expect(refused.message).toMatch(/this user may not create it/);
      expect(await app.hasSlot(), 'no slot is left that would hold the log').toBe(false);

      await app.sql(sqlIn(refused.remedy, 'create publication'));
      const pipeline = await app.start({ url });
      const ids = await insert(app, 'a', 'b');
      await app.untilHandled(2);
      expect(app.ids).toEqual(ids);
      await app.stop(pipeline);
    });
  });

  test.each([
    ['no right to read the rows that are there', '', 'GRANT SELECT ON outbox TO $user'],
    [
      'row-level security, which would leave rows out in silence',
      'ALTER TABLE outbox ENABLE ROW LEVEL SECURITY; GRANT SELECT ON outbox TO $user',
      'ALTER ROLE $user BYPASSRLS',
    ],
  ])('%s: only a snapshot needs it, and is refused before there is a slot', async (_, sql, repair) => {
    await using app = await App.create();
    const ids = await insert(app, 'a');
    await withUser(app, 'REPLICATION', async ({ name, url }) => {
      await app.sql(
        `CREATE PUBLICATION ${app.source.publication} FOR TABLE outbox WITH (publish = 'insert')`,
      );
      if (sql !== '') await app.sql(sql.replace('$user', name));
      const refused = await app.refusal(app.pipeline({ url, start: 'snapshot' }));
      expect(refused).toMatchObject({ code: 'PG_PRIVILEGE' });
      expect(refused.message).toMatch(/outbox.*needs select/);
      expect(await app.hasSlot()).toBe(false);
      ids.push(...(await insert(app, 'b')));
      await app.sql(repair.replace('$user', name));
      const pipeline = await app.start({ url, start: 'snapshot' });
      await app.untilHandled(2);
      expect(app.ids).toEqual(ids);
      await app.stop(pipeline);
    });
  });
});

describe('the outbox table', () => {
  test.each([
    ['is missing', { table: 'outbux' }, /There is no table "outbux"/],
    ['is in another schema', { table: 'shop.outbox' }, /There is no table "shop\.outbox"/],
    ['is written in other letters', { table: 'Outbox' }, /case counts/],
    ['is a view', { table: 'outbox_view' }, /"outbox_view" is not a table/],
    ['is an index', { table: 'outbox_pkey' }, /"outbox_pkey" is not a table/],
  ])('%s', async (_, outbox, message) => {
    await using app = await App.create();
    await app.sql('CREATE VIEW outbox_view AS SELECT * FROM outbox');
    const error = await app.refusal(app.pipeline({ outbox: { ...app.source.outbox, ...outbox } }));
    expect(error).toMatchObject({ code: 'PG_TABLE_MISSING' });
    expect(error.message).toMatch(message);
    expect(await app.hasSlot()).toBe(false);
  });

  test('is unlogged: the remedy’s command is enough', async () => {
    await using app = await App.create();
    await app.sql('ALTER TABLE outbox SET UNLOGGED');
    const refused = await app.refusal(app.pipeline());
    expect(refused).toMatchObject({ code: 'PG_TABLE_UNLOGGED' });
    await app.sql(sqlIn(refused.remedy, 'alter table'));
    const pipeline = await app.start();
    const ids = await insert(app, 'a');
    await app.untilHandled(1);
    expect(app.ids).toEqual(ids);
    await app.stop(pipeline);
  });

  test.each([
    ['id', { id: 'nr' }, '"nr"'],
    ['key', { key: 'order_id' }, '"order_id"'],
    ['one of several keys', { key: ['key', 'tenant'] }, '"tenant"'],
    ['type', { type: 'kind' }, '"kind"'],
    ['payload', { payload: 'Payload' }, '"Payload"'],
    ['headers', { headers: 'meta' }, '"meta"'],
    ['a further column', { columns: ['created_at', 'more'] }, '"more"'],
    ['a generated column', { columns: ['shouted'] }, '"shouted"'],
  ])('lacks the column of %s: it says which, and which there are', async (_, outbox, column) => {
    await using app = await App.create();
    await app.sql('ALTER TABLE outbox ADD shouted text GENERATED ALWAYS AS (upper(key)) STORED');
    const error = await app.refusal(app.pipeline({ outbox: { ...app.source.outbox, ...outbox } }));
    expect(error).toMatchObject({ code: 'PG_COLUMN_MISSING' });
    expect(error.message).toContain(`public.outbox has no published column ${column}`);
    expect(error.message).toContain('id, key, payload, created_at');
    expect(await app.hasSlot()).toBe(false);
  });
});

describe('the publication', () => {
  test('is missing while the slot is there', async () => {
    await using app = await App.create();
    await runBefore(app);
    await app.sql(`DROP PUBLICATION ${app.source.publication}`);
    const error = await app.refusal(app.pipeline());
    expect(error).toMatchObject({ code: 'PG_PUBLICATION_MISSING' });
    expect(error.message).toContain(app.source.slot);
    expect(error.message).toContain(app.source.publication);
  });

  test('was dropped and made anew: what was inserted in between can not be in the stream', async () => {
    await using app = await App.create();
    await runBefore(app);
    await app.sql(`DROP PUBLICATION ${app.source.publication}`);
    await insert(app, 'unseen');
    await app.sql(`CREATE PUBLICATION ${app.source.publication} FOR TABLE outbox WITH (publish = 'insert')`);
    const error = await app.refusal(app.pipeline());
    expect(error).toMatchObject({
      code: 'PG_PUBLICATION_CHANGED',
      position: app.storage.get('app')?.watermark,
    });
    // The remedy: a new name, with every row that is still there.
    const again = {
      slot: app.db.slot('again'),
      publication: app.db.publication('again'),
      start: 'snapshot',
    } as const;
    const pipeline = await app.start(again, { name: 'app-again' });
    await app.untilHandled(3);
    expect(app.handled.map(({ key }) => key)).toEqual(['first', 'first', 'unseen']);
    await app.stop(pipeline);
  });

  test.each<[what: string, make: string, problem: RegExp, repair: string]>([
    [
      'has no table',
      'CREATE PUBLICATION p',
      /does not contain the table public\.outbox/,
      'ALTER PUBLICATION p ADD TABLE outbox',
    ],
    [
      'has another table',
      'CREATE PUBLICATION p FOR TABLE other',
      /does not contain the table public\.outbox/,
      'ALTER PUBLICATION p ADD TABLE outbox',
    ],
    [
      'filters rows',
      `CREATE PUBLICATION p FOR TABLE outbox WHERE (key <> 'x') WITH (publish = 'insert')`,
      /filters the rows of public\.outbox.*would be lost/,
      'ALTER PUBLICATION p SET TABLE outbox',
    ],
    [
      'has a column list without a mapped column',
      `CREATE PUBLICATION p FOR TABLE outbox (id, key) WITH (publish = 'insert')`,
      /leaves out the mapped columns payload of public\.outbox/,
      'ALTER PUBLICATION p SET TABLE outbox (id, key, payload)',
    ],
    [
      'does not publish inserts',
      `CREATE PUBLICATION p FOR TABLE outbox WITH (publish = 'update, delete')`,
      /does not publish inserts/,
      `ALTER PUBLICATION p SET (publish = 'insert')`,
    ],
  ])('%s; altered, it serves', async (_, make, problem, repair) => {
    await using app = await App.create();
    await app.sql('CREATE TABLE other (n int)');
    const named = (sql: string): string =>
      sql.replace('PUBLICATION p', `PUBLICATION ${app.source.publication}`);
    await app.sql(named(make));
    const refused = await app.refusal(app.pipeline());
    expect(refused).toMatchObject({ code: 'PG_PUBLICATION_MISMATCH' });
    expect(refused.message).toMatch(problem);
    expect(refused.message).toContain(app.source.publication);
    expect(await app.hasSlot()).toBe(false);
    await app.sql(named(repair));
    const pipeline = await app.start();
    const ids = await insert(app, 'a');
    await app.untilHandled(1);
    expect(app.ids).toEqual(ids);
    await app.stop(pipeline);
  });

  test('of a partitioned table publishes the partitions under their own names', async () => {
    await using app = await App.withTables(`
      CREATE TABLE outbox (id bigint GENERATED ALWAYS AS IDENTITY, key text, payload text) PARTITION BY HASH (key);
      CREATE TABLE outbox_0 PARTITION OF outbox FOR VALUES WITH (MODULUS 1, REMAINDER 0)`);
    await app.sql(`CREATE PUBLICATION ${app.source.publication} FOR TABLE outbox WITH (publish = 'insert')`);
    const refused = await app.refusal(app.pipeline());
    expect(refused).toMatchObject({ code: 'PG_PUBLICATION_MISMATCH' });
    expect(refused.message).toMatch(/publish_via_partition_root is off/);
    await app.sql(`ALTER PUBLICATION ${app.source.publication} SET (publish_via_partition_root = true)`);
    const pipeline = await app.start();
    const ids = await insert(app, 'a');
    await app.untilHandled(1);
    expect(app.ids).toEqual(ids);
    await app.stop(pipeline);
  });
});

describe('create: false', () => {
  test('publication and slot are missing: one after the other, the remedies’ commands are enough', async () => {
    await using app = await App.create();
    const noPublication = await app.refusal(app.pipeline({ create: false }));
    expect(noPublication).toMatchObject({ code: 'PG_PUBLICATION_MISSING' });
    await app.sql(sqlIn(noPublication.remedy, 'create publication'));

    const noSlot = await app.refusal(app.pipeline({ create: false }));
    expect(noSlot).toMatchObject({ code: 'PG_SLOT_MISSING' });
    await app.sql(sqlIn(noSlot.message, 'select pg_create_logical_replication_slot'));
    const ids = await insert(app, 'a', 'b');

    const pipeline = await app.start({ create: false });
    ids.push(...(await insert(app, 'c')));
    await app.untilHandled(3);
    expect(app.ids).toEqual(ids);
    await app.stop(pipeline);
  });
});

describe('the slot', () => {
  test('decodes with another plugin', async () => {
    await using app = await App.create();
    await app.sql(`SELECT pg_create_logical_replication_slot('${app.source.slot}', 'test_decoding')`);
    const error = await app.refusal(app.pipeline());
    expect(error).toMatchObject({ code: 'PG_SLOT_MISMATCH' });
    expect(error.message).toMatch(/decodes with test_decoding and not with pgoutput/);
  });

  test('is a physical one', async () => {
    await using app = await App.create();
    await app.sql(`SELECT pg_create_physical_replication_slot('${app.source.slot}')`);
    const error = await app.refusal(app.pipeline());
    expect(error).toMatchObject({ code: 'PG_SLOT_MISMATCH' });
    expect(error.message).toMatch(/is a physical one/);
    await app.sql(`SELECT pg_drop_replication_slot('${app.source.slot}')`);
  });

  test('belongs to another database', async () => {
    await using app = await App.create();
    await using other = await testDatabase();
    await other.pool.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [other.slot()]);
    const error = await app.refusal(app.pipeline({ slot: other.slot() }));
    expect(error).toMatchObject({ code: 'PG_SLOT_MISMATCH' });
    expect(error.message).toContain(`belongs to the database ${other.name}`);
  });

  test('is read by another program: it is named, and when it is gone nothing is lost', async () => {
    await using app = await App.create();
    await runBefore(app);
    const recvlogical = new pg.Client({
      connectionString: app.db.url,
      application_name: 'pg_recvlogical',
      replication: 'database',
    } as pg.ClientConfig);
    recvlogical.on('error', () => undefined);
    await recvlogical.connect();
    const { slot, publication } = app.source;
    recvlogical
      .query(
        `START_REPLICATION SLOT ${slot} LOGICAL 0/0 (proto_version '1', publication_names '${publication}')`,
      )
      .catch(() => undefined);
    await app.db.waitForSlot(slot, 'active');
    const ids = await insert(app, 'a');
    for (const standby of ['wait', 'fail'] as const) {
      const error = await app.refusal(app.pipeline({ standby }));
      expect(error).toMatchObject({ code: 'PG_SLOT_IN_USE' });
      expect(error.message).toMatch(/is being read by pg_recvlogical \(pid \d+\)/);
    }
    await recvlogical.end();
    await app.db.waitForSlot(slot, 'inactive');
    const pipeline = await app.start();
    await app.untilHandled(2);
    expect(app.ids.slice(1)).toEqual(ids);
    await app.stop(pipeline);
  });

  test('is gone, though the pipeline has an offset', async () => {
    await using app = await App.create();
    await runBefore(app);
    await app.sql(`SELECT pg_drop_replication_slot('${app.source.slot}')`);
    const ids = await insert(app, 'in the gap');
    const error = await app.refusal(app.pipeline());
    expect(error).toMatchObject({ code: 'PG_SLOT_MISSING' });
    expect(error.message).toContain(app.storage.get('app')?.watermark ?? '?');
    expect(await app.hasSlot(), 'no new one is made, which would start behind the gap').toBe(false);
    // The remedy: the offset deleted, and every row that is still there.
    app.storage.delete('app');
    const pipeline = await app.start({ start: 'snapshot' });
    await app.untilHandled(3);
    expect(app.ids.slice(2)).toEqual(ids);
    await app.stop(pipeline);
  });

  test.each([
    ['advanced', `SELECT pg_replication_slot_advance($slot, pg_current_wal_lsn())`],
    [
      'dropped and made anew',
      `SELECT pg_drop_replication_slot($slot); SELECT pg_create_logical_replication_slot($slot, 'pgoutput')`,
    ],
  ])('was %s by someone: the gap is told, and the remedy’s way works', async (_, sql) => {
    await using app = await App.create();
    await runBefore(app);
    const ids = await insert(app, 'in the gap');
    await app.sql(sql.replaceAll('$slot', `'${app.source.slot}'`));
    ids.push(...(await insert(app, 'behind it')));
    const error = await app.refusal(app.pipeline());
    expect(error).toMatchObject({ code: 'PG_SLOT_ADVANCED', position: app.storage.get('app')?.watermark });
    app.storage.delete('app');
    await app.sql(`SELECT pg_drop_replication_slot('${app.source.slot}')`);
    const pipeline = await app.start({ start: 'snapshot' });
    await app.untilHandled(4);
    expect(app.ids.slice(2)).toEqual(ids);
    await app.stop(pipeline);
  });
});

describe('the saved offset', () => {
  test('belongs to another slot', async () => {
    await using app = await App.create();
    await runBefore(app);
    const error = await app.refusal(app.pipeline({ slot: app.db.slot('another') }));
    expect(error).toMatchObject({ code: 'PG_OFFSET_FOREIGN', position: app.storage.get('app')?.watermark });
    expect(error.message).toContain(`another replication slot: ${app.source.slot}`);
  });

  test('belongs to another database', async () => {
    await using app = await App.create();
    await runBefore(app);
    await app.sql(`SELECT pg_drop_replication_slot('${app.source.slot}')`);
    await using other = await App.create();
    const error = await app.refusal(app.pipeline({ url: other.db.url }));
    expect(error).toMatchObject({ code: 'PG_OFFSET_FOREIGN' });
    expect(error.message).toContain(`another database: ${app.db.name}`);
    // A pipeline that ran before makes nothing: least of all where it does not belong.
    const { rows } = await other.db.pool.query('SELECT pubname FROM pg_publication');
    expect(rows).toEqual([]);
  });

  test('was written by something else', async () => {
    await using app = await App.create();
    await runBefore(app);
    const held = app.storage.get('app') ?? expect.fail('nothing saved');
    app.storage.set('app', { ...held, watermark: 'mysql-bin.000001:4:1' });
    expect(await app.refusal(app.pipeline())).toMatchObject({ code: 'PG_POSITION' });
    app.storage.set('app', held);
    const ids = await insert(app, 'a');
    const pipeline = await app.start();
    await app.untilHandled(2);
    expect(app.ids.slice(1)).toEqual(ids);
    await app.stop(pipeline);
  });

  test('is gone while the slot is there: it resumes where the slot stands, and says so', async () => {
    await using app = await App.create();
    await runBefore(app);
    const ids = await insert(app, 'while it was away');
    app.storage.clear();
    const pipeline = await app.start();
    await app.untilHandled(2);
    expect(app.ids.slice(1)).toEqual(ids);
    expect(app.log.lines).toContainEqual({
      level: 'warn',
      message: 'no saved offset, but the slot is there: resuming where the slot stands',
      fields: expect.objectContaining({ slot: app.source.slot }) as unknown,
    });
    await app.stop(pipeline);
  });

  test('is gone while the slot is there, with start: snapshot: it can not know, and asks', async () => {
    await using app = await App.create();
    await runBefore(app, { start: 'snapshot' });
    const ids = await insert(app, 'while it was away');
    app.storage.clear();
    expect(await app.refusal(app.pipeline({ start: 'snapshot' }))).toMatchObject({
      code: 'PG_OFFSET_MISSING',
    });
    const pipeline = await app.start({ start: 'now' });
    await app.untilHandled(2);
    expect(app.ids.slice(1)).toEqual(ids);
    await app.stop(pipeline);
  });
});

describe('while the pipeline runs', () => {
  test.concurrent.each([
    ['the publication is dropped', 'DROP PUBLICATION $publication'],
    ['the table is taken out of the publication', 'ALTER PUBLICATION $publication DROP TABLE outbox'],
    ['the publication stops to publish inserts', `ALTER PUBLICATION $publication SET (publish = 'update')`],
    [
      'the table is dropped and made anew',
      'ALTER TABLE outbox RENAME TO outbox_old; CREATE TABLE outbox (LIKE outbox_old)',
    ],
  ])('%s: it stops within seconds, though nothing comes that could tell', async (_, sql) => {
    await using app = await App.create();
    const pipeline = await app.start();
    await insert(app, 'a');
    await app.untilHandled(1);
    await app.sql(sql.replace('$publication', app.source.publication));
    const error = await app.failure(pipeline);
    expect(error).toMatchObject({ code: 'PG_PUBLICATION_CHANGED' });
    expect(error.position).toBeDefined();
    expect(error.message).toMatch(/are not in the stream/);
  });

  test.concurrent(
    'the table is renamed: it stops within seconds, and loses no row under either name',
    async () => {
      await using app = await App.create();
      const pipeline = await app.start();
      await insert(app, 'a', 'b');
      await app.sql(
        `BEGIN; INSERT INTO outbox (key) VALUES ('c'); ALTER TABLE outbox RENAME TO events; COMMIT`,
      );
      await app.sql(`INSERT INTO events (key) VALUES ('d')`);
      const error = await app.failure(pipeline);
      expect(error).toMatchObject({ code: 'PG_TABLE_CHANGED' });
      expect(error.message).toContain('public.outbox is called public.events now');
      await app.sql(`INSERT INTO events (key) VALUES ('e')`);
      expect(await app.refusal(app.pipeline()), 'under the old name').toMatchObject({
        code: 'PG_TABLE_MISSING',
      });
      const renamed = await app.start({ outbox: { ...app.source.outbox, table: 'events' } });
      await app.untilHandled(5);
      expect(app.handled.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'd', 'e']);
      await app.stop(renamed);
    },
  );

  test.each([
    ['and named so in the config', 'SELECT', 'events'],
    ['and back', 'ALTER TABLE events RENAME TO outbox', 'outbox'],
  ])(
    'the table is renamed while no process runs, %s: the rows under either name come',
    async (_, sql, table) => {
      await using app = await App.create();
      await runBefore(app);
      await insert(app, 'a');
      await app.sql('ALTER TABLE outbox RENAME TO events');
      await app.sql(`INSERT INTO events (key) VALUES ('b')`);
      await app.sql(sql);
      await app.sql(`INSERT INTO ${table} (key) VALUES ('c')`);
      const pipeline = await app.start({ outbox: { ...app.source.outbox, table } });
      await app.untilHandled(4);
      expect(app.handled.map(({ key }) => key)).toEqual(['first', 'a', 'b', 'c']);
      await app.stop(pipeline);
    },
  );

  test('a mapped column is dropped: what came before is delivered, and without the mapping the rest', async () => {
    await using app = await App.create();
    const pipeline = await app.start();
    await insert(app, 'a', 'b');
    await app.sql('ALTER TABLE outbox DROP payload');
    await app.sql(`INSERT INTO outbox (key) VALUES ('c')`);
    const error = await app.failure(pipeline);
    expect(error).toMatchObject({ code: 'PG_COLUMN_MISSING' });
    expect(error.message).toContain('"payload"');
    const { table, id, key } = app.source.outbox;
    const corrected = await app.start({ outbox: { table, id, key } });
    await app.untilHandled(3);
    expect(app.handled.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
    await app.stop(corrected);
  });

  test('a row comes without a key: what came before is delivered, and with another rule the rest, each once', async () => {
    await using app = await App.create();
    await app.sql('ALTER TABLE outbox ALTER key DROP NOT NULL');
    const pipeline = await app.start();
    await insert(app, 'a');
    await app.sql(
      `INSERT INTO outbox (key, payload) VALUES ('a', 'before'), (NULL, 'itself'), ('a', 'after')`,
    );
    await app.sql(`INSERT INTO outbox (key, payload) VALUES ('a', 'next transaction')`);
    const error = await app.failure(pipeline);
    expect(error).toMatchObject({ code: 'PG_NULL_KEY' });
    expect(error.position).toMatch(/:2$/);
    expect(app.handled.map(({ payload }) => payload)).toEqual([null, 'before']);

    expect(await app.failure(await app.start()), 'still').toMatchObject({ code: 'PG_NULL_KEY' });
    const corrected = await app.start({ nullKey: 'unordered' });
    await app.untilHandled(5);
    const payloads = app.handled.map(({ payload }) => payload);
    expect(payloads.toSorted()).toEqual(['after', 'before', 'itself', 'next transaction', null].toSorted());
    expect(payloads.filter((payload) => payload !== 'itself').slice(1)).toEqual([
      'before',
      'after',
      'next transaction',
    ]);
    await app.stop(corrected);
  });

  test('the key function fails on a row: corrected, it goes on with that row', async () => {
    await using app = await App.create();
    const outbox = (key: (row: Readonly<Record<string, string | null>>) => string) => ({
      ...app.source.outbox,
      key,
    });
    const pipeline = await app.start({
      outbox: outbox(({ payload }) => (JSON.parse(payload ?? '') as { order: string }).order),
    });
    await insertRows(app.db.pool, [
      { key: 'x', payload: '{"order":"a"}' },
      { key: 'x', payload: 'no JSON' },
      { key: 'x', payload: '{"order":"c"}' },
    ]);
    const error = await app.failure(pipeline);
    expect(error).toMatchObject({ code: 'PG_ROW' });
    expect(error.message).toMatch(/key function threw for a row of public\.outbox/);
    expect(app.handled.map(({ key }) => key)).toEqual(['a']);
    const corrected = await app.start({ outbox: outbox(({ payload }) => payload ?? '') });
    await app.untilHandled(3);
    expect(app.handled.map(({ key }) => key)).toEqual(['a', 'no JSON', '{"order":"c"}']);
    await app.stop(corrected);
  });

  test.each([
    [
      'outside of a transaction',
      `SELECT pg_logical_emit_message(false, 'app', '{"key":"b"}')`,
      /outside of a transaction/,
    ],
    ['that is no JSON object', `SELECT pg_logical_emit_message(true, 'app', 'b')`, /is not JSON/],
  ])('a message comes %s: what came before is delivered, and nothing behind it', async (_, sql, problem) => {
    await using app = await App.create();
    const messages = { prefix: 'app' };
    const pipeline = await app.start({ messages });
    await app.sql(`SELECT pg_logical_emit_message(true, 'app', '{"key":"a"}')`);
    await app.sql(sql);
    await app.sql(`SELECT pg_logical_emit_message(true, 'app', '{"key":"c"}')`);
    const error = await app.failure(pipeline);
    expect(error).toMatchObject({ code: 'PG_MESSAGE' });
    expect(error.message).toMatch(problem);
    expect(app.handled.map(({ key }) => key)).toEqual(['a']);
    // It stays in the log: the next start finds it again, and does not pass it in silence.
    expect(await app.failure(await app.start({ messages }))).toMatchObject({ code: 'PG_MESSAGE' });
    expect(app.handled).toHaveLength(1);
  });
});

describe('servers that are set up wrongly', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ exclusive: true, settings: { max_replication_slots: '3' } });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function alterSystem(app: App, setting: string): Promise<void> {
    await app.sql(`ALTER SYSTEM ${setting}`);
    await app.sql('SELECT pg_reload_conf()');
  }

  test('wal_level is not logical', async () => {
    await using small = await startPostgres({ exclusive: true, settings: { wal_level: 'replica' } });
    await using app = await App.create(small.url);
    const error = await app.refusal(app.pipeline());
    expect(error).toMatchObject({ code: 'PG_WAL_LEVEL' });
    expect(error.message).toMatch(/wal_level = replica.*alter system set wal_level = 'logical'.*restart/);
  });

  test('a pooler answers', async () => {
    await using app = await App.create(server.url);
    await using bouncer = await startPgBouncer({ upstream: server });
    const { host } = new URL(bouncer.url);
    const error = await app.refusal(app.pipeline({ url: Object.assign(new URL(app.db.url), { host }).href }));
    expect(error).toMatchObject({ code: 'PG_POOLER' });
    expect(error.message).toContain(host);
    expect(error.message).toMatch(/address and port of Postgres/);
  });

  test('the saved offset belongs to another server', async () => {
    await using app = await App.create();
    await runBefore(app);
    await using other = await App.create(server.url);
    const error = await app.refusal(app.pipeline({ url: other.db.url }));
    expect(error).toMatchObject({ code: 'PG_OFFSET_FOREIGN' });
    expect(error.message).toMatch(/another server \(system identifier\): \d+, and this is \d+/);
  });

  test('all replication slots are in use; when one is dropped it starts', async () => {
    await using app = await App.create(server.url);
    const names = [1, 2, 3].map((n) => app.db.slot(`taken${String(n)}`));
    for (const name of names)
      await app.sql(`SELECT pg_create_logical_replication_slot('${name}', 'pgoutput')`);
    const error = await app.refusal(app.pipeline());
    expect(error).toMatchObject({ code: 'PG_SLOT_LIMIT' });
    expect(error.message).toMatch(/max_replication_slots/);
    await app.sql(`SELECT pg_drop_replication_slot('${names[0] ?? ''}')`);
    const pipeline = await app.start();
    const ids = await insert(app, 'a');
    await app.untilHandled(1);
    expect(app.ids).toEqual(ids);
    await app.stop(pipeline);
  });

  test.each([`*`, `FIRST 1 (s1, "*")`, `ANY 1 (*)`])(
    'its reader would count as a synchronous standby (%s)',
    async (names) => {
      await using app = await App.create(server.url);
      await runBefore(app);
      await alterSystem(app, `SET synchronous_standby_names = '${names}'`);
      try {
        await app.db.waitFor(
          'the setting is there',
          `SELECT current_setting('synchronous_standby_names') = $1`,
          [names],
        );
        const error = await app.refusal(app.pipeline());
        expect(error).toMatchObject({ code: 'PG_SYNC_STANDBY' });
        expect(error.message).toContain(`synchronous_standby_names = ${names}`);
      } finally {
        await alterSystem(app, 'RESET synchronous_standby_names');
      }
      const pipeline = await app.start();
      const ids = await insert(app, 'a');
      await app.untilHandled(2);
      expect(app.ids.slice(1)).toEqual(ids);
      await app.stop(pipeline);
    },
  );

  test('its reader becomes a synchronous standby while it runs: it stops, and commits do not wait for themselves for good', async () => {
    await using app = await App.create(server.url);
    const pipeline = await app.start();
    await insert(app, 'a');
    await app.untilHandled(1);
    await alterSystem(app, `SET synchronous_standby_names = '*'`);
    try {
      // The server takes the setting over in its own time: until then a commit does not wait.
      const commits: Promise<string[]>[] = [];
      const waits = (): Promise<unknown> =>
        app.db.waitFor(
          'a commit waits',
          `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')`,
        );
      for (let waiting = false; !waiting;) {
        const commit = insert(app, 'b');
        commits.push(commit);
        waiting = await Promise.race([
          commit.then(() => false),
          waits().then(
            () => true,
            () => false,
          ),
        ]);
      }
      expect(await app.failure(pipeline)).toMatchObject({ code: 'PG_SYNC_STANDBY' });
      await alterSystem(app, 'RESET synchronous_standby_names');
      await Promise.all(commits);
      const again = await app.start();
      await app.untilHandled(1 + commits.length);
      expect(app.handled.filter(({ key }) => key === 'b')).toHaveLength(commits.length);
      await app.stop(again);
    } finally {
      await alterSystem(app, 'RESET synchronous_standby_names');
    }
  });

  test('its slot is invalidated while it is read: the gap is told, and the remedy’s way works', async () => {
    await using app = await App.create(server.url);
    let release: () => void = () => undefined;
    const stuck = new Promise<void>((resolve) => (release = resolve));
    const pipeline = await app.start({}, { handle: () => stuck });
    const ids = await insert(app, 'a');
    await alterSystem(app, `SET max_slot_wal_keep_size = '1MB'`);
    try {
      for (let segment = 1; segment <= 3; segment += 1) {
        await app.sql(`INSERT INTO outbox (key) VALUES ('b')`);
        await app.sql('SELECT pg_switch_wal()');
      }
      await app.sql('CHECKPOINT');
      await app.db.waitFor(
        'the slot is lost',
        `SELECT wal_status = 'lost' FROM pg_replication_slots WHERE slot_name = $1`,
        [app.source.slot],
      );
      release();
      const error = await app.failure(pipeline);
      expect(error).toMatchObject({ code: 'PG_SLOT_LOST' });
      expect(error.message).toMatch(/max_slot_wal_keep_size/);
      expect(await app.refusal(app.pipeline())).toMatchObject({ code: 'PG_SLOT_LOST' });
    } finally {
      await alterSystem(app, 'RESET max_slot_wal_keep_size');
    }
    await app.sql(`SELECT pg_drop_replication_slot('${app.source.slot}')`);
    app.storage.delete('app');
    app.handled.length = 0;
    const again = await app.start({ start: 'snapshot' });
    await app.untilHandled(4);
    expect(app.ids[0]).toBe(ids[0]);
    await app.stop(again);
  });

  // Last: the server is another one afterwards.
  test('it is a standby; promoted, the pipeline goes on where it was', async () => {
    await using app = await App.create(server.url);
    await runBefore(app);
    const ids = await insert(app, 'before the failover');
    await app.sql(`DO $$ BEGIN
      EXECUTE format('COPY (SELECT) TO %L', current_setting('data_directory') || '/standby.signal'); END $$`);
    await server.restart();
    const error = await app.refusal(app.pipeline());
    expect(error).toMatchObject({ code: 'PG_READ_ONLY' });
    expect(error.message).toMatch(/standby in recovery.*Connect to the primary/);

    await app.sql('SELECT pg_promote()');
    ids.push(...(await insert(app, 'after it')));
    const held = app.storage.get('app') ?? expect.fail('nothing saved');
    // Had more of the old timeline been handled than the new primary has of it, that would be told.
    app.storage.set('app', { ...held, watermark: 'FF/0:0' });
    expect(await app.refusal(app.pipeline())).toMatchObject({ code: 'PG_TIMELINE', position: 'FF/0:0' });
    app.storage.set('app', held);
    const pipeline = await app.start();
    await app.untilHandled(3);
    expect(app.ids.slice(1)).toEqual(ids);
    await app.stop(pipeline);
    expect(app.storage.get('app')?.identity['timeline']).toBe('2');
  });
});
