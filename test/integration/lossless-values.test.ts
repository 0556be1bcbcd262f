import { outboxDdl } from '@strandline/outbox';
import { startPostgres } from '@strandline/servers';
import { comparePositions, insertRows, rowsOf } from '@strandline/test-kit';
import type { OutboxEvent, PostgresOptions } from 'strandline';
import { describe, expect, test } from 'vitest';
import { App } from './source-app.js';

/** Runs a pipeline while `write` inserts, until so many events are handled; resolves with them in commit order. */
async function delivered(
  app: App,
  options: Partial<PostgresOptions>,
  count: number,
  write: () => Promise<unknown>,
): Promise<OutboxEvent[]> {
  const pipeline = await app.start(options);
  await write();
  await app.untilHandled(count);
  await app.stop(pipeline);
  expect(app.handled).toHaveLength(count);
  const isFirst = ({ position }: OutboxEvent): boolean => position.startsWith('snapshot:');
  const streamed = app.handled.filter((event) => !isFirst(event));
  return [
    ...app.handled.filter(isFirst),
    ...streamed.sort((a, b) => comparePositions(a.position, b.position)),
  ];
}

const MAPPED = {
  table: 'outbox',
  id: 'id',
  key: 'key',
  type: 'type',
  payload: 'payload',
  headers: 'headers',
};

describe('numbers', () => {
  test('beyond 2^53 keep their digits, as id, key, type and column', async () => {
    await using app = await App.withTables(
      'CREATE TABLE outbox (id bigint PRIMARY KEY, key bigint, type numeric, more numeric(40, 10))',
    );
    const outbox = { table: 'outbox', id: 'id', key: 'key', type: 'type', columns: ['more'] };
    const [least, most] = await delivered(app, { outbox }, 2, () =>
      app.sql(`INSERT INTO outbox VALUES
        (-9223372036854775808, 9007199254740993, '0.10', '12345678901234567890.1234567890'),
        (9223372036854775807, 9007199254740992, 'NaN', 0)`),
    );
    expect(least).toMatchObject({
      id: '-9223372036854775808',
      key: '9007199254740993',
      type: '0.10',
      columns: { more: '12345678901234567890.1234567890' },
    });
    expect(most).toMatchObject({ id: '9223372036854775807', key: '9007199254740992', type: 'NaN' });
  });

  test('in JSON keep their digits in the text', async () => {
    await using app = await App.withTables(
      'CREATE TABLE outbox (id int, key text, type text, payload jsonb, headers json)',
    );
    const [event] = await delivered(app, { outbox: MAPPED }, 1, () =>
      app.sql(
        `INSERT INTO outbox VALUES (1, 'k', NULL, '{"n": 9007199254740993, "x": 1.10}', '{"h": 12345678901234567890}')`,
      ),
    );
    expect(event?.payloadText).toBe('{"n": 9007199254740993, "x": 1.10}');
    expect(event?.payload).toEqual({ n: 9007199254740992, x: 1.1 });
    expect(event?.headers).toEqual({ h: 12345678901234567000 });
  });
});

describe('JSON', () => {
  test('json is the very text that was inserted, jsonb is the server’s; both are parsed', async () => {
    await using app = await App.withTables(
      'CREATE TABLE outbox (id int, key text, type text, payload json, headers jsonb)',
    );
    const text = '{"b": 1,\n  "a" : [1, 2],  "b": "\\u00fc" }';
    const [event] = await delivered(app, { outbox: MAPPED }, 1, () =>
      app.db.pool.query(`INSERT INTO outbox VALUES (1, 'k', NULL, $1::text::json, $1::text::jsonb)`, [text]),
    );
    expect(event?.payloadText).toBe(text);
    expect(event?.payload).toEqual({ a: [1, 2], b: 'ü' });
    expect(event?.headers).toEqual({ a: [1, 2], b: 'ü' });
  });

  test('may be any value; headers are an object or empty', async () => {
    await using app = await App.withTables(
      'CREATE TABLE outbox (id int, key text, type text, payload jsonb, headers jsonb)',
    );
    const values = ['null', 'false', '0', '""', '[]', '{}', '"text"'];
    const events = await delivered(app, { outbox: MAPPED }, values.length, async () => {
      for (const [id, value] of values.entries())
        await app.db.pool.query(`INSERT INTO outbox VALUES ($1, 'k', NULL, $2, $2)`, [id, value]);
    });
    expect(events.map(({ payload }) => payload)).toEqual([null, false, 0, '', [], {}, 'text']);
    expect(events.map(({ payloadText }) => payloadText)).toEqual(values);
    expect(events.map(({ headers }) => headers)).toEqual(values.map(() => ({})));
  });
});

describe('bytes', () => {
  test('of a bytea payload are a Buffer with all of them', async () => {
    await using app = await App.withTables('CREATE TABLE outbox (id int, key bytea, payload bytea)');
    const all = Buffer.from(Array.from({ length: 256 }, (_, n) => n));
    const { payload, key, id, table } = MAPPED;
    const events = await delivered(app, { outbox: { table, id, key, payload } }, 2, () =>
      app.db.pool.query(`INSERT INTO outbox VALUES (1, $1, $1), (2, $2, $2)`, [all, Buffer.alloc(0)]),
    );
    expect(events.map((event) => event.payload)).toEqual([all, Buffer.alloc(0)]);
    expect(events.map((event) => event.key)).toEqual([`\\x${all.toString('hex')}`, '\\x']);
  });
});

describe('texts', () => {
  test('keep everything: byte order marks, emoji, blanks, controls, the empty text; and NULL is not empty', async () => {
    await using app = await App.create();
    const texts = [
      '',
      ' ',
      '\ufeff',
      '\ufefftext\ufeff',
      '👩‍👩‍👧‍👦🇨🇭',
      'a\r\n\tb',
      '\u0001\u007f\u2028',
      '"\'\\{}$1',
      'e\u0301',
      '\u00e9',
      'x'.repeat(63),
    ];
    const rows = texts.map((text) => ({ key: text, payload: text }));
    const events = await delivered(app, {}, texts.length + 1, () =>
      insertRows(app.db.pool, [...rows, { key: 'NULL' }]),
    );
    expect(events.map(({ key }) => key)).toEqual([...texts, 'NULL']);
    expect(events.map(({ payload }) => payload)).toEqual([...texts, null]);
    expect(events.map(({ payloadText }) => payloadText)).toEqual([...texts, null]);
  });

  test('of a megabyte, compressed or not, arrive whole', async () => {
    await using app = await App.create();
    await app.sql('ALTER TABLE outbox ALTER payload SET STORAGE EXTENDED, ADD plain text');
    await app.sql('ALTER TABLE outbox ALTER plain SET STORAGE EXTERNAL');
    const outbox = { ...app.source.outbox, columns: ['plain'] };
    const [event, after] = await delivered(app, { outbox }, 2, () =>
      app.sql(`INSERT INTO outbox (key, payload, plain)
        SELECT 'k', string_agg(md5(n::text), ''), string_agg(md5((-n)::text), '') FROM generate_series(1, 32768) n;
        INSERT INTO outbox (key, payload, plain) VALUES ('k', repeat('ä', 1000000), 'small')`),
    );
    const { rows } = await app.db.pool.query<{ payload: string; plain: string }>(
      'SELECT * FROM outbox ORDER BY id',
    );
    expect(event?.payloadText?.length).toBe(1024 * 1024);
    expect(event?.payloadText === rows[0]?.payload).toBe(true);
    expect(event?.columns['plain'] === rows[0]?.plain).toBe(true);
    expect(after?.payloadText === 'ä'.repeat(1_000_000)).toBe(true);
    expect(after?.bytes).toBeGreaterThan(2_000_000);
  });
});

describe('other types', () => {
  test('times keep their microseconds, and so does the time of the commit', async () => {
    await using app = await App.withTables('CREATE TABLE outbox (id int, key timestamptz, at timestamp)');
    const outbox = { table: 'outbox', id: 'id', key: 'key', columns: ['at'] };
    const before = Date.now();
    const [event] = await delivered(app, { outbox }, 1, () =>
      app.sql(
        `INSERT INTO outbox VALUES (1, '2026-11-30 06:20:45.123456+05:45', '2026-01-01 00:00:00.000001')`,
      ),
    );
    expect(event).toMatchObject({
      key: '2026-11-30 00:35:45.123456+00',
      columns: { at: '2026-01-01 00:00:00.000001' },
    });
    expect(event?.transaction.commitTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    const committed = Date.parse(event?.transaction.commitTime ?? '');
    expect(committed).toBeGreaterThanOrEqual(before - 1);
    expect(committed).toBeLessThanOrEqual(Date.now() + 1);
  });

  test('enums, domains and arrays are the server’s texts', async () => {
    await using app = await App.withTables(`
      CREATE TYPE state AS ENUM ('paid', 'it''s "sent"');
      CREATE DOMAIN order_id AS bigint CHECK (VALUE > 0);
      CREATE TABLE outbox (id int, key order_id, type state, payload int[], headers text[])`);
    const outbox = {
      table: 'outbox',
      id: 'id',
      key: 'key',
      type: 'type',
      payload: 'payload',
      columns: ['headers'],
    };
    const [event] = await delivered(app, { outbox }, 1, () =>
      app.sql(`INSERT INTO outbox VALUES (1, 7, 'it''s "sent"', '{{1,2},{3,NULL}}', ARRAY['a,b', '', NULL])`),
    );
    expect(event).toMatchObject({
      key: '7',
      type: `it's "sent"`,
      payload: '{{1,2},{3,NULL}}',
      columns: { headers: '{"a,b","",NULL}' },
    });
  });

  test('the transaction’s id is the server’s, and the rows of one share it', async () => {
    await using app = await App.withTables(
      'CREATE TABLE outbox (id int, key text, xid text DEFAULT pg_current_xact_id()::xid)',
    );
    const outbox = { table: 'outbox', id: 'id', key: 'key', columns: ['xid'] };
    const events = await delivered(app, { outbox }, 3, async () => {
      await app.sql(`INSERT INTO outbox VALUES (1, 'a'), (2, 'b')`);
      await app.sql(`INSERT INTO outbox VALUES (3, 'c')`);
    });
    expect(events.map(({ transaction }) => transaction.id)).toEqual(
      events.map(({ columns }) => columns['xid']),
    );
    expect(events.map(({ transaction }) => transaction.ordinal)).toEqual([1, 2, 1]);
  });
});

describe('ways to insert', () => {
  test('each row comes once, in the order of the statements, whatever way it came in', async () => {
    await using app = await App.create();
    await app.sql(`
      CREATE UNIQUE INDEX ON outbox (payload);
      CREATE TABLE orders (id int);
      CREATE FUNCTION announce() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO outbox (key, payload) VALUES ('trigger', 'order ' || NEW.id); RETURN NEW; END $$;
      CREATE TRIGGER announce AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION announce()`);
    const events = await delivered(app, {}, 9, async () => {
      await app.sql(`INSERT INTO outbox (key, payload) VALUES ('values', 'a'), ('values', 'b')`);
      await app.sql(
        `INSERT INTO outbox (key, payload) SELECT 'select', 's' || n FROM generate_series(1, 2) n`,
      );
      await app.sql(`INSERT INTO orders VALUES (1), (2)`);
      await app.sql(
        `INSERT INTO outbox (key, payload) VALUES ('upsert', 'u') ON CONFLICT (payload) DO UPDATE SET key = 'x'`,
      );
      await app.sql(
        `INSERT INTO outbox (key, payload) VALUES ('upsert', 'u') ON CONFLICT (payload) DO UPDATE SET key = 'x'`,
      );
      await app.sql(`INSERT INTO outbox (key, payload) VALUES ('upsert', 'u') ON CONFLICT DO NOTHING`);
      await app.sql(`UPDATE outbox SET key = 'updated'; DELETE FROM outbox WHERE payload = 'a'`);
      await app.sql(`COPY outbox (key, payload) FROM PROGRAM 'echo "copy,c"' (FORMAT csv)`);
      await app.sql(`BEGIN; INSERT INTO outbox (key, payload) VALUES ('rolled back', 'r'); ROLLBACK`);
      await app.sql(`TRUNCATE outbox`);
      await app.sql(`INSERT INTO outbox (key, payload) VALUES ('last', 'l')`);
    });
    expect(events.map(({ key, payload }) => `${key} ${String(payload)}`)).toEqual([
      'values a',
      'values b',
      'select s1',
      'select s2',
      'trigger order 1',
      'trigger order 2',
      'upsert u',
      'copy c',
      'last l',
    ]);
  });

  test('of subtransactions come those that were not rolled back, with ordinals without a gap', async () => {
    await using app = await App.create();
    const events = await delivered(app, {}, 4, () =>
      app.sql(`BEGIN;
        INSERT INTO outbox (key) VALUES ('a');
        SAVEPOINT one; INSERT INTO outbox (key) VALUES ('undone'); ROLLBACK TO one;
        SAVEPOINT two; INSERT INTO outbox (key) VALUES ('b'); RELEASE two;
        DO $$ BEGIN INSERT INTO outbox (key) VALUES ('c'); BEGIN INSERT INTO outbox (key) VALUES ('undone'); RAISE 'x';
          EXCEPTION WHEN OTHERS THEN NULL; END; END $$;
        INSERT INTO outbox (key) VALUES ('d');
        COMMIT`),
    );
    expect(events.map(({ key, transaction }) => `${key}${String(transaction.ordinal)}`)).toEqual([
      'a1',
      'b2',
      'c3',
      'd4',
    ]);
  });

  test('a prepared transaction comes when it is committed, and not when it is rolled back', async () => {
    await using server = await startPostgres({
      exclusive: true,
      settings: { max_prepared_transactions: '5' },
    });
    await using app = await App.create(server.url);
    const prepare = async (name: string): Promise<void> => {
      const client = await app.db.pool.connect();
      await client.query('BEGIN');
      await insertRows(client, rowsOf(name));
      await client.query(`PREPARE TRANSACTION '${name}'`);
      client.release();
    };
    const events = await delivered(app, {}, 3, async () => {
      await prepare('first');
      await prepare('second');
      await insertRows(app.db.pool, rowsOf('between'));
      await app.sql(`COMMIT PREPARED 'second'`);
      await prepare('third');
      await app.sql(`ROLLBACK PREPARED 'third'`);
      await app.sql(`COMMIT PREPARED 'first'`);
    });
    expect(events.map(({ key }) => key)).toEqual(['between', 'second', 'first']);
  });
});

describe('the table', () => {
  test('may be partitioned, by levels; partitions come and go while it is read', async () => {
    await using app = await App.withTables(`
      CREATE TABLE outbox (id bigint GENERATED ALWAYS AS IDENTITY, key text, payload text) PARTITION BY RANGE (key);
      CREATE TABLE outbox_a PARTITION OF outbox FOR VALUES FROM ('a') TO ('b');
      CREATE TABLE outbox_b PARTITION OF outbox FOR VALUES FROM ('b') TO ('c') PARTITION BY HASH (id);
      CREATE TABLE outbox_b0 PARTITION OF outbox_b FOR VALUES WITH (MODULUS 1, REMAINDER 0)`);
    const events = await delivered(app, {}, 6, async () => {
      await app.sql(`INSERT INTO outbox (key) VALUES ('a1'), ('b1')`);
      await app.sql(`INSERT INTO outbox_b0 (id, key) OVERRIDING SYSTEM VALUE VALUES (99, 'b2')`);
      // Its columns lie in another order, and one was dropped.
      await app.sql(`CREATE TABLE outbox_c (payload text, gone int, key text, id bigint NOT NULL);
        ALTER TABLE outbox_c DROP gone;
        ALTER TABLE outbox ATTACH PARTITION outbox_c FOR VALUES FROM ('c') TO ('d')`);
      await app.sql(`INSERT INTO outbox (key, payload) VALUES ('c1', 'p')`);
      await app.sql(
        `ALTER TABLE outbox DETACH PARTITION outbox_a; INSERT INTO outbox_a (id, key) VALUES (0, 'a: not ours any more')`,
      );
      await app.sql(`ALTER TABLE outbox ATTACH PARTITION outbox_a DEFAULT`);
      await app.sql(`INSERT INTO outbox (key) VALUES ('z1'), ('b3')`);
    });
    expect(events.map(({ key }) => key)).toEqual(['a1', 'b1', 'b2', 'c1', 'z1', 'b3']);
    expect(events[3]).toMatchObject({ payload: 'p' });
    expect(new Set(events.map(({ table }) => table))).toEqual(new Set(['public.outbox']));
  });

  test('may change while it is read: columns are added, dropped, moved, widened, renamed back and forth', async () => {
    await using app = await App.create();
    const outbox = { ...app.source.outbox, columns: ['created_at'] };
    const events = await delivered(app, { outbox }, 8, async () => {
      await app.sql(`INSERT INTO outbox (key, payload) VALUES ('k1', 'p1')`);
      await app.sql(
        `ALTER TABLE outbox ADD extra text DEFAULT 'x'; INSERT INTO outbox (key, payload) VALUES ('k2', 'p2')`,
      );
      // One transaction with two layouts.
      await app.sql(`BEGIN; INSERT INTO outbox (key, payload) VALUES ('k3', 'p3');
        ALTER TABLE outbox DROP extra, ADD noise int DEFAULT 7; INSERT INTO outbox (key, payload) VALUES ('k4', 'p4'); COMMIT`);
      // The key moves to the end.
      await app.sql(
        `BEGIN; ALTER TABLE outbox RENAME key TO old; ALTER TABLE outbox ADD key text; ALTER TABLE outbox DROP old; COMMIT`,
      );
      await app.sql(`INSERT INTO outbox (key, payload) VALUES ('k5', 'p5')`);
      // The whole table is written anew: none of its rows is an insert.
      await app.sql('ALTER TABLE outbox ALTER id DROP IDENTITY');
      await app.sql('ALTER TABLE outbox ALTER id TYPE numeric');
      await app.sql(`INSERT INTO outbox (id, key, payload) VALUES (6.50, 'k6', 'p6')`);
      await app.sql('CLUSTER outbox USING outbox_pkey');
      await app.sql('VACUUM FULL outbox');
      await app.sql(`ALTER TABLE outbox ALTER payload TYPE jsonb USING to_jsonb(payload)`);
      await app.sql(`INSERT INTO outbox (id, key, payload) VALUES (7, 'k7', '{"p":7}')`);
      await app.sql(
        `ALTER TABLE outbox REPLICA IDENTITY FULL; INSERT INTO outbox (id, key) VALUES (8, 'k8')`,
      );
    });
    expect(events.map(({ key }) => key)).toEqual(['k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7', 'k8']);
    expect(events.map(({ payload }) => payload)).toEqual([
      'p1',
      'p2',
      'p3',
      'p4',
      'p5',
      'p6',
      { p: 7 },
      null,
    ]);
    expect(events.map(({ id }) => id).slice(5)).toEqual(['6.50', '7', '8']);
    expect(events.every(({ columns }) => columns['created_at']?.startsWith('20'))).toBe(true);
  });

  test.each([
    ['Outbox', 'Order Id', 'public."Outbox"', 'public.Outbox'],
    ['Läden & Co.Post Ausgang', 'a "quoted" key', '"Läden & Co"."Post Ausgang"', 'Läden & Co.Post Ausgang'],
    ['shop.outbox', 'select', 'shop.outbox', 'shop.outbox'],
    [`o'reilly.x\\y`, `it's`, `"o'reilly"."x\\y"`, `o'reilly.x\\y`],
  ])('may be called %s, and its key %s', async (table, key, sqlName, name) => {
    await using app = await App.withTables('SELECT');
    const [schema = ''] = sqlName.split('.');
    const column = `"${key.replaceAll('"', '""')}"`;
    await app.sql(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await app.sql(`CREATE TABLE ${sqlName} ("Id" int PRIMARY KEY, ${column} text, "PAYLOAD" text)`);
    await app.sql(`INSERT INTO ${sqlName} VALUES (1, 'k', 'p')`);
    const options = {
      outbox: { table, id: 'Id', key, payload: 'PAYLOAD' },
      publication: `Pub of "${app.db.name}" it's`,
      start: 'snapshot',
    } as const;
    const events = await delivered(app, options, 2, () =>
      app.sql(`INSERT INTO ${sqlName} VALUES (2, 'k', 'q')`),
    );
    expect(events.map((event) => [event.id, event.key, event.payload, event.table])).toEqual([
      ['1', 'k', 'p', name],
      ['2', 'k', 'q', name],
    ]);
  });

  test('is found on the search path, and its namesakes elsewhere are not read', async () => {
    await using app = await App.create();
    await app.sql('CREATE SCHEMA archive; CREATE TABLE archive.outbox (LIKE outbox INCLUDING DEFAULTS)');
    const options = { publication: app.db.publication('all') };
    await app.sql(`CREATE PUBLICATION ${options.publication} FOR ALL TABLES`);
    const events = await delivered(app, options, 2, async () => {
      await app.sql(`INSERT INTO archive.outbox (id, key) VALUES (1, 'archived')`);
      await app.sql(`BEGIN; INSERT INTO outbox (key) VALUES ('a'); INSERT INTO archive.outbox (id, key) VALUES (2, 'x');
        INSERT INTO outbox (key) VALUES ('b'); COMMIT`);
    });
    expect(events.map(({ key, transaction }) => `${key}${String(transaction.ordinal)}`)).toEqual([
      'a1',
      'b2',
    ]);
  });

  test('a namesake before it on the search path of another session does not take its place', async () => {
    await using app = await App.create();
    await app.sql('CREATE SCHEMA first; CREATE TABLE first.outbox (LIKE outbox INCLUDING DEFAULTS)');
    const outbox = { ...app.source.outbox, table: 'public.outbox' };
    await app.sql(`ALTER DATABASE ${app.db.name} SET search_path = first, public`);
    const events = await delivered(app, { outbox }, 1, async () => {
      await app.sql(`INSERT INTO first.outbox (id, key) VALUES (1, 'other')`);
      await app.sql(`INSERT INTO public.outbox (key) VALUES ('a')`);
    });
    expect(events.map(({ key, table }) => [key, table])).toEqual([['a', 'public.outbox']]);
  });
});

describe('presets', () => {
  test('debezium: its columns, the aggregate id as key', async () => {
    await using app =
      await App.withTables(`CREATE TABLE outboxevent (id uuid PRIMARY KEY, aggregatetype varchar(255) NOT NULL,
      aggregateid varchar(255) NOT NULL, type varchar(255) NOT NULL, payload jsonb)`);
    const id = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11';
    const [event] = await delivered(
      app,
      { outbox: { preset: 'debezium', columns: ['aggregatetype'] } },
      1,
      () => app.sql(`INSERT INTO outboxevent VALUES ('${id}', 'Order', '1000', 'OrderPaid', '{"total": 1}')`),
    );
    expect(event).toMatchObject({ id, key: '1000', type: 'OrderPaid', columns: { aggregatetype: 'Order' } });
    expect(event?.payload).toEqual({ total: 1 });
    expect(event?.table).toBe('public.outboxevent');
  });

  test.each([false, true])(
    'strandline: the table that outboxDdl makes (partitioned: %s)',
    async (partitioned) => {
      await using app = await App.withTables(outboxDdl({ dialect: 'postgres', partitioned }).join(';'));
      const id = '0190aaaa-0000-7000-8000-000000000001';
      const [event] = await delivered(app, { outbox: { preset: 'strandline' } }, 1, () =>
        app.sql(
          `INSERT INTO strandline_outbox (id, key, type, payload, headers) VALUES ('${id}', 'k', 'paid', '[1, 1.0]', '{"trace": "x"}')`,
        ),
      );
      expect(event).toMatchObject({ id, key: 'k', type: 'paid', payloadText: '[1, 1.0]' });
      expect([event?.payload, event?.headers]).toEqual([[1, 1], { trace: 'x' }]);
    },
  );
});

describe('keys', () => {
  const TABLE = `CREATE TABLE outbox (id int, tenant text, order_id bigint, payload text)`;

  test('of several columns are told apart, whatever is in them', async () => {
    await using app = await App.withTables(TABLE);
    const outbox = { table: 'outbox', id: 'id', key: ['tenant', 'order_id'] };
    const events = await delivered(app, { outbox }, 4, () =>
      app.sql(`INSERT INTO outbox VALUES (1, 'a', 12), (2, 'a","1', 2), (3, '', 12), (4, 'a', 12)`),
    );
    expect(events.map(({ key }) => key)).toEqual([
      '["a","12"]',
      '["a\\",\\"1","2"]',
      '["","12"]',
      '["a","12"]',
    ]);
  });

  test('may be computed from the whole row', async () => {
    await using app = await App.withTables(TABLE);
    const outbox = {
      table: 'outbox',
      id: 'id',
      key: (row: Readonly<Record<string, string | null>>) =>
        `${row['tenant'] ?? '-'}/${row['order_id'] ?? '-'}/${row['payload'] ?? '-'}`,
    };
    const events = await delivered(app, { outbox }, 2, () =>
      app.sql(`INSERT INTO outbox VALUES (1, 'a', 9007199254740993, 'p'), (2, NULL, NULL, NULL)`),
    );
    expect(events.map(({ key }) => key)).toEqual(['a/9007199254740993/p', '-/-/-']);
  });

  test('that are missing give each event a strand of its own, where that is allowed: they run at once', async () => {
    await using app = await App.withTables(TABLE);
    let running = 0;
    let together: () => void = () => undefined;
    const all = new Promise<void>((resolve) => (together = resolve));
    const outbox = { table: 'outbox', id: 'id', key: ['tenant', 'order_id'] };
    const pipeline = await app.start(
      { outbox, nullKey: 'unordered' },
      {
        handle: async () => {
          running += 1;
          if (running === 3) together();
          await all;
        },
      },
    );
    await app.sql(`INSERT INTO outbox VALUES (1, 'a', NULL), (2, NULL, NULL), (3, 'a', NULL)`);
    await app.untilHandled(3);
    expect(new Set(app.handled.map(({ key }) => key)).size).toBe(3);
    expect(app.handled.every(({ key, position }) => key === `unordered:${position}`)).toBe(true);
    await app.stop(pipeline);
  });
});

describe('a tableless outbox', () => {
  test('needs no table; its messages come in commit order, with what was written in them', async () => {
    await using app = await App.withTables('CREATE TABLE orders (id int)');
    const { url, slot, publication } = app.source;
    const pipeline = app.pipeline({
      url,
      slot,
      publication,
      outbox: undefined,
      messages: { prefix: 'shop' },
    } as never);
    await pipeline.start();
    const emit = (content: string, prefix = 'shop'): string =>
      `SELECT pg_logical_emit_message(true, '${prefix}', '${content}')`;
    await app.sql(
      `BEGIN; INSERT INTO orders VALUES (1); ${emit('{"id":"e1","key":9007199254740993,"type":"paid","payload":{"n":9007199254740993, "u":"ü👍"},"headers":{"h":1}}')}; ${emit('ignored', 'other')}; ${emit('{"key":"b"}')}; COMMIT`,
    );
    await app.sql(`BEGIN; ${emit('{"key":"rolled back"}')}; ROLLBACK`);
    await app.sql(emit('{"key":"c","payload":[]}'));
    await app.untilHandled(3);
    await app.stop(pipeline);
    const [first, second, third] = app.handled;
    expect(first).toMatchObject({
      id: 'e1',
      key: '9007199254740993',
      type: 'paid',
      table: 'shop',
      headers: { h: 1 },
    });
    expect(first?.payloadText).toBe('{"n":9007199254740993,"u":"ü👍"}');
    expect(second).toMatchObject({ id: second?.position, key: 'b', payload: null });
    expect(second?.transaction).toEqual({ ...first?.transaction, ordinal: 2 });
    expect(third).toMatchObject({ key: 'c', payload: [] });
  });

  test('goes together with a table, in one order', async () => {
    await using app = await App.create();
    const options = { messages: { prefix: 'shop', key: 'order', payload: 'body' } };
    const events = await delivered(app, options, 4, () =>
      app.sql(`BEGIN; INSERT INTO outbox (key) VALUES ('a');
        SELECT pg_logical_emit_message(true, 'shop', '{"order":"b","body":1,"key":"not this"}');
        INSERT INTO outbox (key) VALUES ('c'); SELECT pg_logical_emit_message(true, 'shop', '{"order":4}'); COMMIT`),
    );
    expect(events.map(({ key, transaction }) => `${key}${String(transaction.ordinal)}`)).toEqual([
      'a1',
      'b2',
      'c3',
      '44',
    ]);
    expect(events.map(({ table }) => table)).toEqual(['public.outbox', 'shop', 'public.outbox', 'shop']);
  });
});
