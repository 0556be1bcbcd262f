import {
  createOutbox,
  createPartitions,
  insertEvent,
  insertEvents,
  planPartitions,
  type NewEvent,
} from '@strandline/outbox';
import { testDatabase, testMysqlDatabase, type DatabaseKind } from '@strandline/test-kit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { libraries, type App } from './outbox-libraries/libraries.js';
import { packages } from './outbox-libraries/packages.js';

/** What trips those who put values into statements. */
const ODD = `it's "quoted" \\ \\' \\0 \`x\` ? ?? $1 $$ :x :y::text @z %s %(n)s \${a} \r\n\t -- /* 🐚 日本 \u2028 */`;

const FIRST: NewEvent = {
  key: 9007199254740993n,
  type: 'order.paid',
  payload: { text: ODD, nested: { a: [1, { b: null }, 'ü'] } },
};
const OTHERS: readonly NewEvent[] = [
  { key: ODD, type: ODD, payload: ODD, headers: { odd: ODD } },
  { key: ['a', 12, 'ü"'], type: 'empty', payload: null, headers: {} },
  { key: 7, type: 'scalar', payload: 0 },
  {
    key: '7',
    type: 'list',
    payload: [true, false, 1.5e-7, -1, '', {}],
    headers: { nested: { deep: [ODD] } },
  },
];

const EVENTS = [FIRST, ...OTHERS];
const KEYS = ['9007199254740993', ODD, '["a","12","ü\\""]', '7', '7'];
const BYTES = Buffer.from([0, 1, 0x27, 0x5c, 0x22, 0x3f, 0x24, 0x31, 0xff]);

type Row = Record<string, unknown>;

/** A database with a table of the business, and one for events as an application of its own mind would have it. */
abstract class Database implements AsyncDisposable {
  static async create(kind: DatabaseKind): Promise<Database> {
    const database =
      kind === 'postgres'
        ? new PostgresDatabase(kind, await testDatabase())
        : new MysqlDatabase(kind, await testMysqlDatabase(kind));
    await database.rows('create table orders (id int primary key)');
    await database.rows(database.ownTable);
    return database;
  }

  abstract readonly url: string;
  abstract readonly ownTable: string;
  abstract rows(sql: string): Promise<Row[]>;
  /** In the order in which they were written. */
  abstract events(table: string): Promise<Row[]>;
  /** The last row of its own table. */
  abstract lastOwn(): Promise<Row | undefined>;
  abstract [Symbol.asyncDispose](): Promise<void>;
}

class PostgresDatabase extends Database {
  readonly ownTable = `create table "own $1 ""it's" (n bigint generated always as identity, "id$1" text, tenant text, "order" bigint, "b:x" bytea, ok boolean)`;
  constructor(
    readonly kind: DatabaseKind,
    readonly db: Awaited<ReturnType<typeof testDatabase>>,
  ) {
    super();
  }
  get url(): string {
    return this.db.url;
  }
  async rows(sql: string): Promise<Row[]> {
    return (await this.db.pool.query<Row>(sql)).rows;
  }
  events(table: string): Promise<Row[]> {
    return this.rows(
      `select id::text, key, type, payload::text, headers::text from ${table} order by tableoid, ctid`,
    );
  }
  async lastOwn(): Promise<Row | undefined> {
    return (
      await this.rows(
        `select "id$1" as id, tenant, "order"::text as n, "b:x" as bytes, ok from "own $1 ""it's" order by n desc`,
      )
    ).at(0);
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.db[Symbol.asyncDispose]();
  }
}

class MysqlDatabase extends Database {
  readonly ownTable = `create table \`own $1 "it's\` (n bigint auto_increment primary key, \`id$1\` varchar(64), tenant varchar(64), \`order\` bigint, \`b:x\` blob, ok boolean)`;
  constructor(
    readonly kind: DatabaseKind,
    readonly db: Awaited<ReturnType<typeof testMysqlDatabase>>,
  ) {
    super();
  }
  get url(): string {
    return this.db.url;
  }
  async rows(sql: string): Promise<Row[]> {
    return (await this.db.pool.query(sql))[0] as Row[];
  }
  events(table: string): Promise<Row[]> {
    return this.rows(
      `select id, \`key\`, type, cast(payload as char) as payload, cast(headers as char) as headers from ${table} order by id`,
    );
  }
  async lastOwn(): Promise<Row | undefined> {
    return (
      await this.rows(
        'select `id$1` as id, tenant, cast(`order` as char) as n, `b:x` as bytes, ok = 1 as ok from `own $1 "it\'s` order by n desc',
      )
    ).at(0);
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.db[Symbol.asyncDispose]();
  }
}

const parsed = (text: unknown): unknown => (typeof text === 'string' ? JSON.parse(text) : text);

beforeAll(() => packages.install(), 400_000);

describe.each(['postgres', 'mysql', 'mariadb'] as const)('%s', (kind) => {
  let database: Database;
  let order = 0;

  beforeAll(async () => {
    database = await Database.create(kind);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  async function withApp(name: string, work: (app: App) => Promise<void>): Promise<void> {
    const app = await libraries.find((library) => library.name === name)?.open(database.url, kind);
    if (app === undefined) throw new Error(`There is no ${name}.`);
    try {
      await work(app);
    } finally {
      await app.close();
    }
  }

  const names = libraries.filter(({ kinds }) => kinds.includes(kind)).map(({ name }) => name);

  test.each(names)('events commit and roll back with a transaction of %s, every value exact', (name) =>
    withApp(name, async (app) => {
      const table = `events_${name.replaceAll(' ', '_').toLowerCase()}`;
      await createOutbox(app.executor, { table, partitioned: true });
      const made = await createPartitions(app.executor, { table, days: 1 });
      expect(made.statements.length).toBeGreaterThan(0);
      expect(await planPartitions(app.executor, { table, days: 1 })).toEqual({
        statements: [],
        occupied: [],
      });

      const ids: string[] = [];
      await app.transaction((order += 1), async (executor) => {
        ids.push(await insertEvent(executor, FIRST, { table }));
        ids.push(...(await insertEvents(executor, OTHERS, { table })));
      });
      const undone = app.transaction(order + 1, async (executor) => {
        await insertEvent(executor, { key: 'undone', type: 'x' }, { table });
        throw new Error('the business fails');
      });
      await expect(undone).rejects.toThrow('the business fails');

      const rows = await database.events(table);
      expect(rows.map(({ id }) => id)).toEqual(ids);
      expect(rows.map(({ key }) => key)).toEqual(KEYS);
      expect(rows.map(({ type }) => type)).toEqual(EVENTS.map(({ type }) => type));
      expect(rows.map(({ payload }) => parsed(payload))).toEqual(EVENTS.map(({ payload }) => payload));
      expect(rows.map(({ headers }) => parsed(headers))).toEqual(EVENTS.map(({ headers = null }) => headers));
      const [{ n } = { n: 0 }] = await database.rows('select count(*) as n from orders');
      expect(Number(n), 'the undone order').toBe(order);
    }),
  );

  test.each(names)('a table of the application’s own, with odd names, by %s', (name) =>
    withApp(name, async (app) => {
      const options = {
        table: `own $1 "it's`,
        columns: { id: 'id$1', key: ['tenant', 'order'], payload: 'b:x' },
        payloadFormat: 'bytes',
      } as const;
      const [tenant, n] = [ODD.slice(0, 40), 9007199254740993n + BigInt(order)];
      await app.transaction((order += 1), async (executor) => {
        const event = { id: `${name} ?`, key: [tenant, n], payload: BYTES, columns: { ok: true } };
        expect(await insertEvent(executor, event, options)).toBe(event.id);
      });
      const row = await database.lastOwn();
      expect({ ...row, ok: Boolean(row?.['ok']) }).toEqual({
        id: `${name} ?`,
        tenant,
        n: String(n),
        bytes: BYTES,
        ok: true,
      });
    }),
  );
});
