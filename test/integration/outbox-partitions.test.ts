import {
  createOutbox,
  createPartitions,
  insertEvent,
  mysql2Executor,
  outboxDdl,
  pgExecutor,
  planPartitions,
  type Executor,
} from '@strandline/outbox';
import { testDatabase, testMysqlDatabase, type DatabaseKind } from '@strandline/test-kit';
import { describe, expect, test } from 'vitest';

interface Fixture extends AsyncDisposable {
  readonly executor: Executor;
  readonly rows: (sql: string) => Promise<Record<string, unknown>[]>;
}

async function fixture(kind: DatabaseKind): Promise<Fixture> {
  if (kind === 'postgres') {
    const db = await testDatabase();
    return {
      executor: pgExecutor(db.pool),
      rows: async (sql) => (await db.pool.query<Record<string, unknown>>(sql)).rows,
      [Symbol.asyncDispose]: async () => db[Symbol.asyncDispose](),
    };
  }
  const db = await testMysqlDatabase(kind);
  return {
    executor: mysql2Executor(db.pool, kind),
    rows: async (sql) => (await db.pool.query(sql))[0] as Record<string, unknown>[],
    [Symbol.asyncDispose]: async () => db[Symbol.asyncDispose](),
  };
}

/** Partitions with how many rows lie in each, in their order. */
async function partitions(kind: DatabaseKind, { rows }: Fixture): Promise<string[]> {
  if (kind === 'postgres') {
    const found = await rows(`select c.relname || ' ' || (xpath('/row/n/text()', query_to_xml(
        format('select count(*) as n from %s', c.oid::regclass), false, true, '')))[1]::text as part
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'strandline_outbox'::regclass order by c.relname collate "C"`);
    return found.map(({ part }) => String(part));
  }
  const found: string[] = [];
  const names = await rows(`select partition_name as name from information_schema.partitions
    where table_schema = database() and table_name = 'strandline_outbox' order by partition_ordinal_position`);
  for (const { name } of names) {
    const [{ n } = {}] = await rows(
      `select count(*) as n from strandline_outbox partition (${String(name)})`,
    );
    found.push(`${String(name)} ${String(n)}`);
  }
  return found;
}

/** `20260131` for the day so many days from now, by the server's clock. */
async function dayOf(kind: DatabaseKind, { rows }: Fixture, ahead: number): Promise<string> {
  const sql =
    kind === 'postgres'
      ? `select to_char((now() at time zone 'UTC') + interval '${String(ahead)} days', 'YYYYMMDD') as day`
      : `select date_format(utc_timestamp() + interval ${String(ahead)} day, '%Y%m%d') as day`;
  return String((await rows(sql))[0]?.['day']);
}

const event = { key: 'k', type: 't', payload: 1 };

describe.each(['postgres', 'mysql', 'mariadb'] as const)('%s', (kind) => {
  const [prefix, rest] =
    kind === 'postgres' ? ['strandline_outbox_p', 'strandline_outbox_default'] : ['p', 'rest'];

  test('partitions are made once, as the plan says, by several processes at once', async () => {
    await using db = await fixture(kind);
    expect(await createOutbox(db.executor, { partitioned: true })).toEqual(
      outboxDdl({ dialect: kind, partitioned: true }),
    );
    const planned = await planPartitions(db.executor, { days: 2 });
    expect(await partitions(kind, db)).toEqual([`${rest} 0`]);

    const made = await Promise.all([0, 1, 2].map(() => createPartitions(db.executor, { days: 2 })));
    const days = await Promise.all([0, 1, 2, 3].map((ahead) => dayOf(kind, db, ahead)));
    const expected = days.map((day) => `${prefix}${day} 0`);
    const sorted = (n: number): string[] =>
      kind === 'postgres' ? [`${rest} 0`, ...expected.slice(0, n)] : [...expected.slice(0, n), `${rest} 0`];
    expect(await partitions(kind, db)).toEqual(sorted(3));
    expect(new Set(made.flatMap(({ statements }) => statements))).toEqual(new Set(planned.statements));

    const again = await createPartitions(db.executor, { days: 2 });
    expect(again.statements).toEqual([]);
    await createPartitions(db.executor, { days: 3 });
    expect(await partitions(kind, db)).toEqual(sorted(4));

    await insertEvent(db.executor, event);
    expect(await partitions(kind, db)).toContain(`${prefix}${String(days[0])} 1`);
  });

  test('without partitions of the days, and behind them, rows go to the rest', async () => {
    await using db = await fixture(kind);
    await createOutbox(db.executor, { partitioned: true });
    await insertEvent(db.executor, event);
    expect(await partitions(kind, db)).toEqual([`${rest} 1`]);

    // Rows that are there already: Postgres leaves them, since to move them would write them to the log again.
    const { occupied } = await createPartitions(db.executor, { days: 1 });
    const [today, next] = [await dayOf(kind, db, 0), await dayOf(kind, db, 1)];
    const dashed = `${today.slice(0, 4)}-${today.slice(4, 6)}-${today.slice(6)}`;
    expect(occupied).toEqual(kind === 'postgres' ? [dashed] : []);
    expect(await partitions(kind, db)).toEqual(
      kind === 'postgres'
        ? [`${rest} 1`, `${prefix}${next} 0`]
        : [`${prefix}${today} 1`, `${prefix}${next} 0`, `${rest} 0`],
    );
    await insertEvent(db.executor, event);
    const [{ n } = {}] = await db.rows('select count(*) as n from strandline_outbox');
    expect(Number(n)).toBe(2);
  });

  test('a table that has none is refused by name, and so is one that is not there', async () => {
    await using db = await fixture(kind);
    await expect(planPartitions(db.executor)).rejects.toMatchObject({ code: 'OUTBOX_NOT_PARTITIONED' });
    await createOutbox(db.executor);
    await expect(createPartitions(db.executor)).rejects.toThrow(
      /There is no table .strandline_outbox. with partitions by day\. Make one by/,
    );
  });

  test('the server gives a row what it was not given: an id, and the time in microseconds, in UTC', async () => {
    await using db = await fixture(kind);
    await createOutbox(db.executor);
    const key = kind === 'postgres' ? 'key' : '`key`';
    await db.rows(`insert into strandline_outbox (${key}, type) values ('k', 't'), ('k', 't')`);
    const age =
      kind === 'postgres'
        ? 'extract(epoch from clock_timestamp() - created_at)'
        : 'timestampdiff(microsecond, created_at, utc_timestamp(6)) / 1e6';
    const micros = kind === 'postgres' ? "to_char(created_at, 'US')" : "date_format(created_at, '%f')";
    const rows = await db.rows(`select id, ${age} as age, ${micros} as micros from strandline_outbox`);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(2);
    for (const row of rows) {
      expect(String(row['id'])).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
      expect(Number(row['age'])).toBeGreaterThanOrEqual(0);
      expect(Number(row['age'])).toBeLessThan(60);
      expect(String(row['micros'])).toMatch(/^\d{6}$/);
    }
  });
});

test('Postgres makes partitions while a transaction that has inserted is open', async () => {
  await using db = await testDatabase();
  const executor = pgExecutor(db.pool);
  await createOutbox(executor, { partitioned: true });
  await createPartitions(executor, { days: 0 });
  const client = await db.pool.connect();
  try {
    await client.query('begin');
    await insertEvent(pgExecutor(client), event);
    const { statements } = await createPartitions(executor, { days: 1 });
    expect(statements).toHaveLength(2);
    await client.query('commit');
  } finally {
    client.release(true);
  }
});
