import type { OutboxPruner } from '@strandline/core';
import {
  insertRows,
  outboxSource,
  PostgresTestOutbox,
  rowsOf,
  testDatabase,
  TestLog,
  waitUntil,
  watchFor,
  type TestDatabase,
} from '@strandline/test-kit';
import pg from 'pg';
import { postgres, type Pipeline, type PruneFigures, type RowTime, type Source } from 'strandline';
import { describe, expect, test } from 'vitest';
import { PruneStage } from './prune-stage.js';
import { StoppableReplica } from './stoppable-replica.js';

/** Milliseconds; rounds that follow one another. */
const OFTEN = { every: 100, duty: 1 };

function sourceOf(
  db: TestDatabase,
  name: string,
  more: Partial<Parameters<typeof postgres>[0]> = {},
): Source {
  return postgres({
    ...outboxSource(db),
    slot: db.slot(name),
    publication: db.publication(name),
    ...more,
  });
}

async function idsIn(db: TestDatabase, table = 'outbox'): Promise<string[]> {
  const { rows } = await db.pool.query<{ id: string }>(`SELECT id FROM ${table} ORDER BY id`);
  return rows.map(({ id }) => id);
}

function untilFigures(
  what: string,
  pipeline: Pipeline,
  look: (figures: PruneFigures) => boolean,
): Promise<PruneFigures> {
  return waitUntil<PruneFigures | null>(what, () => {
    const { prune } = pipeline.status();
    return prune !== null && look(prune) ? prune : null;
  });
}

/** Notes in each deleting transaction which rows it deletes, for whoever holds them against what was handled by then. */
async function noteDeletions(db: TestDatabase): Promise<void> {
  await db.pool.query(`CREATE TABLE deleted (id bigint);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO deleted (id) VALUES (OLD.id); RETURN OLD; END $$;
    CREATE TRIGGER note AFTER DELETE ON outbox FOR EACH ROW EXECUTE FUNCTION note();`);
}

describe('settled rows are deleted, and no others', () => {
  test('under load, with a slow pipeline, a lagging replica and a transaction that commits late with a small id', async () => {
    await using outbox = await PostgresTestOutbox.create();
    const { db } = outbox;
    await noteDeletions(db);
    await using replica = await StoppableReplica.follow(db.url);
    await using stage = new PruneStage();
    const lag = { replicaLag: { bytes: 1_000 } };
    const fast = await stage.start('fast', sourceOf(db, 'fast'), { keep: 0, ...OFTEN, chunk: 50, ...lag });
    await stage.start('slow', sourceOf(db, 'slow'));

    replica.standStill();
    // It takes its id and its time first, and commits in the middle.
    const late = new pg.Client(db.url);
    late.on('error', () => undefined);
    await late.connect();
    await late.query('BEGIN');
    const [lateId = ''] = await insertRows(late, rowsOf('late'));

    const release = stage.hold('slow');
    const written: string[] = [];
    const write = async (rows: number): Promise<void> => {
      for (let n = 0; n < rows; n += 20)
        written.push(...(await insertRows(db.pool, rowsOf(...Array<string>(20).fill(`k${String(n % 7)}`)))));
    };
    await write(400);
    await waitUntil('the fast one has handled them', () => stage.ids('fast').size === 400);
    const waiting = await untilFigures('it waits for the slow one', fast, ({ heldBack }) =>
      heldBack.some(({ who }) => who === 'pipeline slow'),
    );
    expect(waiting.rowsDeleted).toBe(0);
    // The rows that it waits for were chosen by now: this one was not visible, and is the oldest by any measure.
    await late.query('COMMIT');
    await late.end();
    expect(await idsIn(db)).toEqual([lateId, ...written]);

    // Deletions are watched as they come: each must have been handled by both.
    const deleted = new Set<string>();
    const watch = async (): Promise<void> => {
      const { rows } = await db.pool.query<{ id: string }>('SELECT id FROM deleted');
      for (const { id } of rows) deleted.add(id);
      expect(stage.notHandledByAll(deleted)).toEqual([]);
    };
    // Settled by all, and the replica is behind: it pauses before the first row.
    release();
    const { paused } = await untilFigures(
      'it pauses for the replica',
      fast,
      (figures) => figures.paused !== null,
    );
    expect(paused).toMatchObject({ kind: 'replicas', why: expect.stringContaining(replica.name) as string });
    expect(await idsIn(db)).toEqual([lateId, ...written]);
    replica.goOn();
    for (let n = 0; n < 10; n += 1) {
      await write(40);
      await watch();
    }
    await waitUntil('the table is empty', async () => {
      await watch();
      return (await idsIn(db)).length === 0;
    });
    // What went between the two looks.
    await watch();
    const all = [lateId, ...written];
    expect(stage.notHandledByAll(all)).toEqual([]);
    expect(deleted).toEqual(new Set(all));
    const figures = await untilFigures('all are counted', fast, ({ rowsDeleted }) => rowsDeleted === 801);
    expect(figures).toMatchObject({ heldBack: [], error: null });
  });

  test('a pipeline that stands still holds back, whoever else has settled, and one that is reset does not', async () => {
    await using outbox = await PostgresTestOutbox.create();
    const { db } = outbox;
    await using stage = new PruneStage();
    const still = await stage.start('still', sourceOf(db, 'still'));
    await still.stop();
    const ids = await insertRows(db.pool, rowsOf('a', 'b'));
    const fast = await stage.start('fast', sourceOf(db, 'fast', { start: 'snapshot' }), {
      keep: 0,
      ...OFTEN,
    });
    const { heldBack } = await untilFigures('it waits', fast, ({ state }) => state === 'waiting');
    await waitUntil('for that one alone', () => {
      const { heldBack: now = [] } = fast.status().prune ?? {};
      return now.length === 1 && now[0]?.who === 'pipeline still' && now[0];
    });
    expect(heldBack.find(({ who }) => who === 'pipeline still')?.why).toMatch(/^it has to come to /);
    expect(await idsIn(db)).toEqual(ids);

    await stage.define('still', sourceOf(db, 'still')).offset.reset(() => Promise.resolve());
    // Its slot is one of a stranger from now on.
    await untilFigures('the slot holds back', fast, (figures) =>
      figures.heldBack.some(({ who }) => who === `slot ${db.slot('still')}`),
    );
    expect(await idsIn(db)).toEqual(ids);
    await db.pool.query('SELECT pg_drop_replication_slot($1)', [db.slot('still')]);
    await waitUntil('they are gone', async () => (await idsIn(db)).length === 0);
  });

  test('a start snapshot needs the rows, and an offset that does not name its table holds back', async () => {
    await using outbox = await PostgresTestOutbox.create();
    const { db } = outbox;
    await using stage = new PruneStage();
    const ids = await insertRows(db.pool, rowsOf('a', 'b'));
    const release = stage.hold('reads');
    await stage.start('reads', sourceOf(db, 'reads', { start: 'snapshot' }));
    const fast = await stage.start('fast', sourceOf(db, 'fast'), { keep: 0, ...OFTEN });
    const why = 'it is reading the rows that were there when it started';
    await untilFigures('the snapshot holds back', fast, ({ heldBack }) =>
      heldBack.some((one) => one.who === 'pipeline reads' && one.why === why),
    );

    const { identity, ...rest } = stage.storage.get('fast') ?? expect.fail('it has an offset');
    const old = Object.fromEntries(Object.entries(identity).filter(([name]) => !name.startsWith('table')));
    stage.storage.set('old', { ...rest, identity: old });
    release();
    await untilFigures(
      'the old offset holds back, and nothing else',
      fast,
      ({ heldBack: [one, more] }) =>
        one?.who === 'pipeline old' && one.why.includes('which table it reads') && more === undefined,
    );
    expect(await idsIn(db)).toEqual(ids);
    stage.storage.delete('old');
    await waitUntil('they are gone', async () => (await idsIn(db)).length === 0);
    expect(stage.ids('reads')).toEqual(new Set(ids));
  });

  test('pipelines that must be known, one pruner at a time, and a look that deletes nothing', async () => {
    await using outbox = await PostgresTestOutbox.create();
    const { db } = outbox;
    await using stage = new PruneStage();
    const strict = { keep: 0, ...OFTEN, pipelines: ['elsewhere'] };
    const first = await stage.start('first', sourceOf(db, 'first'), strict);
    const ids = await insertRows(db.pool, rowsOf('a', 'b', 'c'));
    await untilFigures('the one waits', first, ({ state, heldBack }) =>
      state === 'waiting' ? heldBack.some(({ who }) => who === 'pipeline elsewhere') : false,
    );
    const second = await stage.start('second', sourceOf(db, 'second'), { keep: 0, ...OFTEN });
    await untilFigures('the other leaves it to the one', second, ({ state }) => state === 'elsewhere');
    const { outcome, survey } = await second.prune({ keep: 0, dryRun: true, patience: 5_000 });
    expect({ outcome, survey }).toEqual({ outcome: 'done', survey: { rows: 3, partitions: [] } });
    expect((await second.prune()).outcome).toBe('elsewhere');
    expect(await idsIn(db)).toEqual(ids);

    const began = performance.now();
    await first.stop();
    expect(performance.now() - began).toBeLessThan(5_000);
    // Stopped it would hold the rows as soon as anybody writes to this server; and it need not prune.
    await stage.start('first', sourceOf(db, 'first'));
    await waitUntil('the other takes over', async () => (await idsIn(db)).length === 0);
  });

  test('a partition is dropped as a whole once all have settled it, a late commit included', async () => {
    await using db = await testDatabase();
    await db.pool
      .query(`CREATE TABLE outbox (id bigint GENERATED BY DEFAULT AS IDENTITY, key text, payload text,
        created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (id, created_at)) PARTITION BY RANGE (created_at);
      CREATE TABLE old PARTITION OF outbox FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
      CREATE TABLE today PARTITION OF outbox FOR VALUES FROM ('2021-01-01') TO ('2100-01-01');
      CREATE TABLE other PARTITION OF outbox DEFAULT`);
    const insert = async (client: Pick<pg.ClientBase, 'query'>, time: string): Promise<string> => {
      const { rows } = await client.query<{ id: string }>(
        `INSERT INTO outbox (key, payload, created_at) VALUES ('k', '{}', ${time}) RETURNING id`,
      );
      return rows[0]?.id ?? '';
    };
    const isThere = async (): Promise<string> => {
      const { rows } = await db.pool.query<{ kind: string }>(
        `SELECT CASE WHEN relispartition THEN 'partition' ELSE 'aside' END AS kind FROM pg_class WHERE oid = to_regclass('old')`,
      );
      return rows[0]?.kind ?? 'gone';
    };
    await using stage = new PruneStage();
    await stage.start('slow', sourceOf(db, 'slow'));
    let release = stage.hold('slow');
    const fast = await stage.start('fast', sourceOf(db, 'fast'), { keep: 3_600_000, ...OFTEN });
    const ids = [await insert(db.pool, "'2020-06-01'"), await insert(db.pool, "'2020-07-01'")];
    const young = await insert(db.pool, 'now()');
    await untilFigures('it waits', fast, ({ heldBack }) =>
      heldBack.some(({ who }) => who === 'pipeline slow'),
    );
    expect(await isThere()).toBe('partition');

    const late = new pg.Client(db.url);
    late.on('error', () => undefined);
    await late.connect();
    await late.query('BEGIN');
    const lateId = await insert(late, "'2020-08-01'");
    release();
    await untilFigures('the table is in use', fast, ({ pauses }) => pauses.locked > 0);
    expect(await isThere()).toBe('partition');
    await waitUntil('slow has handled the first', () => ids.every((id) => stage.ids('slow').has(id)));

    release = stage.hold('slow');
    await late.query('COMMIT');
    await late.end();
    await untilFigures('it waits again', fast, ({ heldBack }) =>
      heldBack.some(({ who }) => who === 'pipeline slow'),
    );
    await watchFor(300, 'it stays until the late one is settled', async () => (await isThere()) !== 'gone');
    expect(stage.ids('slow').has(lateId)).toBe(false);
    release();
    await waitUntil('it is dropped', async () => (await isThere()) === 'gone');
    expect(stage.notHandledByAll([...ids, lateId])).toEqual([]);
    expect(await idsIn(db)).toEqual([young]);
    await untilFigures('it is counted', fast, ({ partitionsDropped }) => partitionsDropped === 1);
  });

  test('a partition that was set aside by a process that died is found again, and one that came back is not dropped', async () => {
    await using db = await testDatabase();
    await db.pool
      .query(`CREATE TABLE outbox (id bigint, key text, payload text, created_at timestamp NOT NULL,
        PRIMARY KEY (id, created_at)) PARTITION BY RANGE (created_at);
      CREATE TABLE "Old ""one""" PARTITION OF outbox FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
      INSERT INTO outbox VALUES (1, 'k', '{}', '2020-02-02')`);
    const name = '"public"."Old ""one"""';
    {
      await using pruner = await prunerOf(db, { keep: 1_000 });
      const old = await pruner.partitions();
      expect(old).toEqual([{ name, setAside: false }]);
      expect(await pruner.setAside({ name, setAside: false })).toBe('done');
    }
    await expect(db.pool.query(`INSERT INTO outbox VALUES (2, 'k', '{}', '2020-02-02')`)).rejects.toThrow(
      /no partition/,
    );
    await using pruner = await prunerOf(db, { keep: 1_000 });
    expect(await pruner.partitions()).toEqual([{ name, setAside: true }]);
    await db.pool.query(
      `ALTER TABLE outbox ATTACH PARTITION ${name} FOR VALUES FROM ('2020-01-01') TO ('2021-01-01')`,
    );
    await pruner.drop({ name, setAside: true });
    expect(await idsIn(db)).toEqual(['1']);
    await db.pool.query(`ALTER TABLE outbox DETACH PARTITION ${name}`);
    await pruner.drop({ name, setAside: true });
    expect((await db.pool.query('SELECT to_regclass($1) AS found', [name])).rows).toEqual([{ found: null }]);
  });

  test.each([
    ['a timestamptz', {}, 'id bigint PRIMARY KEY, created_at timestamptz', "now() - interval '$1 min'"],
    [
      'a timestamp in UTC, with an index',
      { createdAt: 'at' },
      'id bigint PRIMARY KEY, at timestamp; CREATE INDEX ON outbox (at)',
      "now() at time zone 'UTC' - interval '$1 min'",
    ],
    [
      'milliseconds',
      { createdAt: 'ms' },
      'id bigint PRIMARY KEY, ms bigint',
      'extract(epoch from now()) * 1000 - $1 * 60000',
    ],
  ])('%s tells which rows are old', async (_, options, columns, time) => {
    await using db = await testDatabase();
    const [table = '', index = ''] = columns.split(';');
    await db.pool.query(`CREATE TABLE outbox (key text, payload text, ${table}); ${index}`);
    for (const [id, minutes] of [
      [1, 1],
      [2, 120],
      [3, 2],
      [4, 100],
    ] as const)
      await db.pool.query(
        `INSERT INTO outbox VALUES ('k', '{}', ${String(id)}, ${time.replace('$1', String(minutes))})`,
      );
    expect(await oldIn(db, { keep: 3_600_000, ...options })).toEqual(['2', '4']);
  });

  test('ids tell which rows are old, where they have the time in them', async () => {
    await using db = await testDatabase();
    await db.pool.query('CREATE TABLE outbox (id uuid PRIMARY KEY, key text, payload text)');
    const hex = (minutes: number): string => (Date.now() - minutes * 60_000).toString(16).padStart(12, '0');
    const uuid = (minutes: number, version: string): string =>
      `${hex(minutes).slice(0, 8)}-${hex(minutes).slice(8)}-${version}000-8000-000000000001`;
    const old = uuid(120, '7');
    for (const id of [uuid(1, '7'), old, uuid(130, '4')])
      await db.pool.query(`INSERT INTO outbox VALUES ($1, 'k', '{}')`, [id]);
    expect(await oldIn(db, { keep: 3_600_000, createdAt: { id: 'uuidv7' } })).toEqual([old]);
    await expect(oldIn(db, { keep: 1 })).rejects.toMatchObject({ code: 'PG_PRUNE_TIME' });
    expect((await oldIn(db, { keep: 0 })).length).toBe(3);
  });

  test('an index that does not have rows in order is none', async () => {
    await using db = await testDatabase();
    await db.pool
      .query(`CREATE TABLE outbox (id bigint PRIMARY KEY, key text, payload text, created_at timestamptz);
      CREATE INDEX ON outbox USING brin (created_at);
      INSERT INTO outbox SELECT id, 'k', '{}', now() - interval '1 day' FROM generate_series(1, 3) id`);
    await using pruner = await prunerOf(db, { keep: 1_000 });
    // In the order of its key, it goes on behind the last one.
    expect(await pruner.look(null, 2)).toEqual({ old: [['1'], ['2']], looked: 2, last: ['2'] });
  });

  test('a partition by ids that have the time in them is old, and who reads it reads the outbox', async () => {
    await using db = await testDatabase();
    await db.pool
      .query(`CREATE TABLE outbox (id uuid PRIMARY KEY, key text, payload text) PARTITION BY RANGE (id);
      CREATE TABLE old PARTITION OF outbox FOR VALUES FROM (MINVALUE) TO ('01900000-0000-0000-0000-000000000000');
      CREATE TABLE today PARTITION OF outbox FOR VALUES FROM ('01900000-0000-0000-0000-000000000000') TO (MAXVALUE)`);
    const { rows } = await db.pool.query<Record<string, string>>(
      `SELECT 'postgres' AS source, system_identifier::text AS system, current_database() AS database,
              'public.old' AS table, 'old'::regclass::oid::text AS "tableOid" FROM pg_control_system()`,
    );
    const identity = rows[0] ?? {};
    const options = { keep: 1_000, createdAt: { id: 'uuidv7' } } as const;
    const old = { name: '"public"."old"', setAside: false };
    {
      await using pruner = await prunerOf(db, options);
      expect(pruner.relationOf(identity)).toBe('reads');
      expect(pruner.relationOf({ ...identity, table: 'public.x', tableOid: '1' })).toBe('other');
      expect(await pruner.partitions()).toEqual([old]);
      expect(await pruner.setAside(old)).toBe('done');
    }
    await using pruner = await prunerOf(db, options);
    expect(pruner.relationOf(identity)).toBe('reads');
  });

  test('without the right to delete it says which one is missing', async () => {
    await using db = await testDatabase();
    await db.pool.query(`CREATE TABLE outbox (id bigint PRIMARY KEY, key text, payload text);
      CREATE ROLE ${db.name} LOGIN REPLICATION PASSWORD 'x'; GRANT SELECT ON outbox TO ${db.name}`);
    const url = Object.assign(new URL(db.url), { username: db.name, password: 'x' }).href;
    await expect(oldIn(db, { keep: 0 }, url)).rejects.toMatchObject({
      code: 'PG_PRUNE_PRIVILEGE',
      remedy: `Run: grant select, delete on "public"."outbox" to ${db.name};`,
    });
    await db.pool.query(`GRANT DELETE ON outbox TO ${db.name}`);
    {
      await using replica = await StoppableReplica.follow(db.url);
      await using pruner = await prunerOf(db, { keep: 0 }, url);
      await expect(pruner.load()).rejects.toMatchObject({
        code: 'PG_PRUNE_PRIVILEGE',
        remedy: `Run: grant pg_read_all_stats to ${db.name};`,
      });
      await db.pool.query(`GRANT pg_read_all_stats TO ${db.name}`);
      expect((await pruner.load()).replicas.map(({ name }) => name)).toContain(replica.name);
    }
    await db.pool.query(`DROP OWNED BY ${db.name}; DROP ROLE ${db.name}`);
  });
});

async function oldIn(
  db: TestDatabase,
  options: { readonly keep: number; readonly createdAt?: RowTime },
  url = db.url,
): Promise<string[]> {
  await using pruner = await prunerOf(db, options, url);
  const { old } = await pruner.look(null, 100);
  return old.flat().toSorted();
}

async function prunerOf(
  db: TestDatabase,
  options: { readonly keep: number; readonly createdAt?: RowTime },
  url = db.url,
): Promise<OutboxPruner> {
  const { signal } = new AbortController();
  const asked = { pipeline: 'p', signal, log: new TestLog(), ignoreSlots: [], replicas: [], dryRun: false };
  const pruner = await postgres(outboxSource(db, url)).pruner?.({ createdAt: null, ...asked, ...options });
  if (pruner === null || pruner === undefined) throw new Error('there is no pruner');
  return pruner;
}
