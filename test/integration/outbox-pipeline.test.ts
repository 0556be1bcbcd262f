import {
  createOutbox,
  createPartitions,
  emitEvent,
  insertEvent,
  insertEvents,
  mysql2Executor,
  pgExecutor,
  type Executor,
  type NewEvent,
} from '@strandline/outbox';
import {
  databaseKinds,
  TestLog,
  testDatabase,
  testMysqlDatabase,
  waitUntil,
  type DatabaseKind,
} from '@strandline/test-kit';
import {
  definePipeline,
  memoryOffsets,
  mysql,
  postgres,
  type OutboxEvent,
  type PipelineOptions,
  type Source,
} from 'strandline';
import { describe, expect, test } from 'vitest';

type OutboxOptions = Parameters<typeof mysql>[0]['outbox'];

/** A producer with connections of its own, and the database in which it writes. */
interface Shop extends AsyncDisposable {
  readonly executor: Executor;
  source(outbox: OutboxOptions, start?: 'now' | 'snapshot'): Source;
  sql(statement: string): Promise<unknown>;
  transaction(work: (executor: Executor) => Promise<unknown>): Promise<void>;
}

async function shopOn(kind: DatabaseKind): Promise<Shop> {
  return kind === 'postgres' ? postgresShop() : mysqlShop(kind);
}

async function postgresShop(): Promise<Shop> {
  const db = await testDatabase();
  return {
    executor: pgExecutor(db.pool),
    source: (outbox, start = 'now') =>
      postgres({
        url: db.url,
        slot: db.slot(),
        publication: db.publication(),
        outbox,
        start,
      }),
    sql: (statement) => db.pool.query(statement),
    async transaction(work) {
      const client = await db.pool.connect();
      try {
        await client.query('begin');
        await work(pgExecutor(client));
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
    async [Symbol.asyncDispose]() {
      await db[Symbol.asyncDispose]();
    },
  };
}

async function mysqlShop(kind: 'mysql' | 'mariadb'): Promise<Shop> {
  const db = await testMysqlDatabase(kind);
  return {
    executor: mysql2Executor(db.pool, kind),
    source: (outbox, start = 'now') => mysql({ url: db.url, serverId: db.serverId(), outbox, start }),
    sql: (statement) => db.pool.query(statement),
    async transaction(work) {
      const connection = await db.pool.getConnection();
      try {
        await connection.beginTransaction();
        await work(mysql2Executor(connection, kind));
        await connection.commit();
      } catch (error) {
        await connection.rollback();
        throw error;
      } finally {
        connection.release();
      }
    },
    async [Symbol.asyncDispose]() {
      await db[Symbol.asyncDispose]();
    },
  };
}

/** Runs a pipeline while `write` writes, until so many events are handled; resolves with them. */
async function handled(
  source: Source,
  count: number,
  write: () => Promise<unknown>,
  settings: Partial<Pick<PipelineOptions, 'concurrency'>> = {},
): Promise<OutboxEvent[]> {
  const events: OutboxEvent[] = [];
  const pipeline = definePipeline({
    name: 'shop',
    source,
    offsets: memoryOffsets(),
    log: new TestLog(),
    ...settings,
    handle: async (event) => {
      await Promise.resolve();
      events.push(event);
    },
  });
  await pipeline.start();
  try {
    await write();
    await Promise.race([
      waitUntil(`${String(count)} events are handled`, () => events.length >= count, { deadlineMs: 30_000 }),
      pipeline.finished,
    ]);
  } finally {
    await pipeline.stop();
  }
  expect(events).toHaveLength(count);
  return events;
}

function byKey(events: readonly { readonly key: unknown; readonly id: string }[]): Record<string, string[]> {
  const ids: Record<string, string[]> = {};
  for (const { key, id } of events) (ids[String(key)] ??= []).push(id);
  return ids;
}

describe.each(databaseKinds)('%s', (kind) => {
  test.each([false, true])(
    'what is inserted reaches the handler in order per key (partitioned: %s)',
    async (partitioned) => {
      await using shop = await shopOn(kind);
      await createOutbox(shop.executor, { partitioned });
      await createOutbox(shop.executor, { partitioned }); // changes nothing
      const written: { key: unknown; id: string }[] = [];
      const newEvents = (transaction: number, count: number): NewEvent[] =>
        Array.from({ length: count }, (_, n) => ({
          key: `order-${String((transaction + n) % 7)}`,
          type: 'order.changed',
          payload: { transaction, n },
        }));
      const events = await handled(
        shop.source({ preset: 'strandline' }),
        200,
        async () => {
          for (let transaction = 0; transaction < 20; transaction += 1) {
            // In the middle of the log: rows go to other partitions from here on.
            if (partitioned && transaction === 10) await createPartitions(shop.executor, { days: 2 });
            await shop.transaction(async (executor) => {
              const [first, ...others] = newEvents(transaction, 10);
              if (first === undefined) return;
              const ids = [await insertEvent(executor, first), ...(await insertEvents(executor, others))];
              written.push(...ids.map((id, n) => ({ id, key: newEvents(transaction, 10)[n]?.key })));
            });
          }
        },
        { concurrency: 4 },
      );
      expect(byKey(events)).toEqual(byKey(written));
      expect(events[0]?.table.endsWith('strandline_outbox'), events[0]?.table).toBe(true);
      expect(new Set(events.map(({ payload }) => JSON.stringify(payload))).size).toBe(200);
    },
  );

  test.each([false, true])(
    'rows that are there before a pipeline is come in their order (partitioned: %s)',
    async (partitioned) => {
      await using shop = await shopOn(kind);
      await createOutbox(shop.executor, { partitioned });
      if (partitioned) await createPartitions(shop.executor, { days: 1 });
      const ids: string[] = [];
      for (let call = 0; call < 3; call += 1)
        ids.push(
          ...(await insertEvents(
            shop.executor,
            Array.from({ length: 9 }, () => ({ key: 'k', type: 't' })),
          )),
        );
      const source = shop.source({ preset: 'strandline' }, 'snapshot');
      const events = await handled(source, 28, async () => {
        ids.push(await insertEvent(shop.executor, { key: 'k', type: 't' }));
      });
      expect(events.map(({ id }) => id)).toEqual(ids);
    },
  );

  test('rows of one call keep their order in the log, over several statements', async () => {
    await using shop = await shopOn(kind);
    await createOutbox(shop.executor);
    // Four statements by their bytes, and more rows than one statement takes.
    const large = 'x'.repeat(700_000);
    const events: NewEvent[] = [
      ...['a', 'b', 'c'].map((n) => ({ key: 'k', type: 'large', payload: n + large })),
      ...Array.from({ length: 7_000 }, (_, n) => ({ key: 'k', type: 'small', payload: n })),
    ];
    let ids: string[] = [];
    let statements = 0;
    const seen = await handled(shop.source({ preset: 'strandline' }), events.length, () =>
      shop.transaction(async (executor) => {
        const counting: Executor = {
          dialect: executor.dialect,
          run: (sql, params) => {
            statements += 1;
            return executor.run(sql, params);
          },
        };
        ids = await insertEvents(counting, events);
      }),
    );
    expect(seen.map(({ id }) => id)).toEqual(ids);
    expect(seen.slice(0, 3).map(({ payload }) => String(payload).charAt(0))).toEqual(['a', 'b', 'c']);
    expect(statements).toBe(4);
  });

  test('what JSON can have arrives as it was, and so do keys and headers', async () => {
    await using shop = await shopOn(kind);
    await createOutbox(shop.executor);
    const payloads = [
      { nul: '\0', text: '🐚\u2028"\\', '': [{}], '🐚': null },
      [1e21, 5e-324, -1.5, 9007199254740991, true],
      '',
      0,
      null,
      new Date(0),
    ];
    const keys = [['a', 1n], 'ü🐚', 12, -9223372036854775808n, '🐚'.repeat(255), ' '];
    const trace = {
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      tracestate: 'a=1',
    };
    const events = await handled(shop.source({ preset: 'strandline' }), payloads.length, () =>
      shop.transaction((executor) =>
        insertEvents(
          executor,
          payloads.map((payload, n) => ({ key: keys[n] ?? '', type: 't', payload, headers: { n } })),
          { trace },
        ),
      ),
    );
    const sorted = events.toSorted((a, b) => Number(a.headers['n']) - Number(b.headers['n']));
    expect(sorted.map(({ payload }) => payload)).toEqual([
      ...payloads.slice(0, -1),
      '1970-01-01T00:00:00.000Z',
    ]);
    expect(sorted.map(({ key }) => key)).toEqual([
      '["a","1"]',
      'ü🐚',
      '12',
      '-9223372036854775808',
      '🐚'.repeat(255),
      ' ',
    ]);
    expect(sorted[1]?.headers).toEqual({ n: 1, ...trace });
  });

  test('a table of the application’s own, whose server makes the ids', async () => {
    await using shop = await shopOn(kind);
    const id = kind === 'postgres' ? 'bigint generated always as identity' : 'bigint auto_increment';
    await shop.sql(
      `create table events (event_id ${id} primary key, tenant varchar(40), order_id bigint, kind varchar(40), body text, region varchar(9) not null)`,
    );
    const columns = { key: ['tenant', 'order_id'], type: 'kind', payload: 'body' };
    const source = shop.source({
      ...columns,
      table: 'events',
      id: 'event_id',
      payloadFormat: 'json',
      columns: ['region'],
    });
    const [event] = await handled(source, 1, async () => {
      const written = {
        key: ['a', 9007199254740993n],
        type: 'paid',
        payload: { n: 1 },
        columns: { region: 'eu' },
      };
      expect(await insertEvent(shop.executor, written, { table: 'events', columns })).toBeNull();
    });
    expect(event).toMatchObject({
      id: '1',
      key: '["a","9007199254740993"]',
      type: 'paid',
      columns: { region: 'eu' },
    });
    expect(event?.payload).toEqual({ n: 1 });
  });
});

test('events without a table come through the log of Postgres, with the transaction or not at all', async () => {
  await using db = await testDatabase();
  const source = postgres({
    url: db.url,
    slot: db.slot(),
    publication: db.publication(),
    messages: { prefix: 'shop' },
  });
  const odd = { text: `it's "x" ? $1 🐚 \\ \0` };
  const ids: string[] = [];
  const emitted = async (end: 'commit' | 'rollback', event: NewEvent): Promise<void> => {
    const client = await db.pool.connect();
    await client.query('begin');
    const id = await emitEvent(pgExecutor(client), event, { prefix: 'shop' });
    if (end === 'commit') ids.push(id);
    await client.query(end);
    client.release();
  };
  const [first, second] = await handled(source, 2, async () => {
    await emitted('commit', { key: ['a', 1], type: 'paid', payload: odd, headers: { h: odd } });
    await emitted('rollback', { key: 'undone' });
    await emitted('commit', { key: 9007199254740993n });
  });
  expect([first?.id, second?.id]).toEqual(ids);
  expect(first).toMatchObject({ key: '["a","1"]', type: 'paid', table: 'shop' });
  expect([first?.payload, first?.headers]).toEqual([odd, { h: odd }]);
  expect(second).toMatchObject({ key: '9007199254740993', type: null, payload: null });
});
