import type { OutboxPruner } from '@strandline/core';
import { startMysql, startReplica } from '@strandline/servers';
import {
  rowsOf,
  testMysqlDatabase,
  TestLog,
  waitUntil,
  watchFor,
  type TestMysqlDatabase,
} from '@strandline/test-kit';
import { createConnection, type Connection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import { mysql, type Pipeline, type PruneFigures, type RowTime, type Source } from 'strandline';
import { describe, expect, test } from 'vitest';
import { PruneStage } from './prune-stage.js';

/** Milliseconds; rounds that follow one another. */
const OFTEN = { every: 100, duty: 1 };

const TABLE = `CREATE TABLE outbox (id bigint AUTO_INCREMENT PRIMARY KEY, \`key\` varchar(255) NOT NULL, payload longtext,
  created_at timestamp(6) NOT NULL DEFAULT current_timestamp(6))`;

const OUTBOX = { table: 'outbox', id: 'id', key: 'key', payload: 'payload' } as const;

function sourceOf(db: TestMysqlDatabase): Source {
  return mysql({ url: db.url, start: 'now', outbox: OUTBOX, serverId: db.serverId() });
}

async function insert(client: Pick<Connection, 'query'>, keys: readonly string[]): Promise<string[]> {
  const [result] = await client.query<ResultSetHeader>('INSERT INTO outbox (`key`, payload) VALUES ?', [
    rowsOf(...keys).map(({ key }) => [key, '{}']),
  ]);
  return keys.map((_, index) => String(result.insertId + index));
}

async function idsIn(db: TestMysqlDatabase): Promise<string[]> {
  const [rows] = await db.pool.query<RowDataPacket[]>('SELECT id FROM outbox ORDER BY id');
  return rows.map((row) => String(row['id']));
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

async function prunerOf(
  db: TestMysqlDatabase,
  options: { readonly keep: number; readonly createdAt?: RowTime },
  url = db.url,
): Promise<OutboxPruner> {
  const { signal } = new AbortController();
  const asked = { pipeline: 'p', signal, log: new TestLog(), ignoreSlots: [], replicas: [], dryRun: false };
  const source = mysql({ url, outbox: OUTBOX });
  const pruner = await source.pruner?.({ createdAt: null, ...asked, ...options });
  if (pruner === null || pruner === undefined) throw new Error('there is no pruner');
  return pruner;
}

async function oldIn(...args: Parameters<typeof prunerOf>): Promise<string[]> {
  await using pruner = await prunerOf(...args);
  const { old } = await pruner.look(null, 100);
  return old.flat().toSorted();
}

describe.each(['mysql', 'mariadb'] as const)('settled rows are deleted on %s, and no others', (kind) => {
  test('under load, with a slow pipeline and a transaction that commits late with a small id', async () => {
    await using db = await testMysqlDatabase(kind);
    await db.pool.query(TABLE);
    await db.pool.query('CREATE TABLE deleted (place bigint AUTO_INCREMENT PRIMARY KEY, id bigint)');
    await db.pool.query(
      'CREATE TRIGGER note AFTER DELETE ON outbox FOR EACH ROW INSERT INTO deleted (id) VALUES (old.id)',
    );
    await using stage = new PruneStage();
    const fast = await stage.start('fast', sourceOf(db), { keep: 0, ...OFTEN, chunk: 50 });
    await stage.start('slow', sourceOf(db));

    // It takes its id and its time first, and commits in the middle.
    const late = await createConnection(db.url);
    await late.query('START TRANSACTION');
    const [lateId = ''] = await insert(late, ['late']);

    const release = stage.hold('slow');
    const written: string[] = [];
    const write = async (rows: number): Promise<void> => {
      for (let n = 0; n < rows; n += 20)
        written.push(...(await insert(db.pool, Array<string>(20).fill(`k${String(n % 7)}`))));
    };
    await write(400);
    await waitUntil('the fast one has handled them', () => stage.ids('fast').size === 400);
    const waiting = await untilFigures('it waits for the slow one', fast, ({ heldBack }) =>
      heldBack.some(({ who }) => who === 'pipeline slow'),
    );
    expect(waiting.rowsDeleted).toBe(0);
    await late.query('COMMIT');
    await late.end();
    expect(await idsIn(db)).toEqual([lateId, ...written]);

    const deleted = new Set<string>();
    const watch = async (): Promise<void> => {
      const [rows] = await db.pool.query<RowDataPacket[]>('SELECT id FROM deleted');
      for (const row of rows) deleted.add(String(row['id']));
      expect(stage.notHandledByAll(deleted)).toEqual([]);
    };
    release();
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
    expect(stage.notHandledByAll([lateId, ...written])).toEqual([]);
    expect(deleted).toEqual(new Set([lateId, ...written]));
    await untilFigures('all are counted', fast, ({ rowsDeleted }) => rowsDeleted === 801);
  });

  test('a pipeline that stands still holds back, and so does one that reads the rows of its start', async () => {
    await using db = await testMysqlDatabase(kind);
    await db.pool.query(TABLE);
    await using stage = new PruneStage();
    const still = await stage.start('still', sourceOf(db));
    await still.stop();
    const ids = await insert(db.pool, ['a', 'b']);
    const release = stage.hold('reads');
    const source = mysql({ url: db.url, start: 'snapshot', outbox: OUTBOX, serverId: db.serverId() });
    const reads = await stage.start('reads', source, { keep: 0, ...OFTEN });
    const why = 'it is reading the rows that were there when it started';
    await untilFigures(
      'both hold back',
      reads,
      ({ heldBack }) =>
        ['reads', 'still'].every((name) => heldBack.some(({ who }) => who === `pipeline ${name}`)) &&
        heldBack.some((one) => one.why === why),
    );
    release();
    // Nothing else is written: the place of an idle outbox moves on all the same.
    await untilFigures('the one that stands still is left', reads, ({ heldBack: [one, more] }) =>
      one?.who === 'pipeline still' ? more === undefined : false,
    );
    expect(await idsIn(db)).toEqual(ids);
    await stage.start('still', sourceOf(db));
    await waitUntil('they are gone', async () => (await idsIn(db)).length === 0);
    expect(stage.notHandledByAll(ids)).toEqual([]);
  });

  test('a partition is dropped as a whole once all have settled it, a late commit included', async () => {
    await using db = await testMysqlDatabase(kind);
    await db.pool
      .query(`CREATE TABLE outbox (id bigint AUTO_INCREMENT, \`key\` varchar(255) NOT NULL, payload longtext,
        created_at datetime NOT NULL, PRIMARY KEY (id, created_at))
      PARTITION BY RANGE COLUMNS (created_at) (PARTITION p2020 VALUES LESS THAN ('2021-01-01'),
        PARTITION today VALUES LESS THAN ('2090-01-01'), PARTITION other VALUES LESS THAN (MAXVALUE))`);
    const add = async (client: Pick<Connection, 'query'>, time: string): Promise<string> => {
      const sql = `INSERT INTO outbox (\`key\`, payload, created_at) VALUES ('k', '{}', ${time})`;
      return String((await client.query<ResultSetHeader>(sql))[0].insertId);
    };
    const partitions = async (): Promise<string[]> => {
      const [rows] = await db.pool.query<RowDataPacket[]>(
        `SELECT table_name AS t, partition_name AS p FROM information_schema.partitions WHERE table_schema = database()
         ORDER BY t, partition_ordinal_position`,
      );
      return rows.map((row) => String(row['p'] ?? row['t']));
    };
    await using stage = new PruneStage();
    await stage.start('slow', sourceOf(db));
    let release = stage.hold('slow');
    const fast = await stage.start('fast', sourceOf(db), { keep: 3_600_000, ...OFTEN });
    const ids = [await add(db.pool, "'2020-06-01'"), await add(db.pool, "'2020-07-01'")];
    const young = await add(db.pool, 'utc_timestamp()');
    await untilFigures('it waits', fast, ({ heldBack }) =>
      heldBack.some(({ who }) => who === 'pipeline slow'),
    );
    expect((await partitions()).slice(0, 3)).toEqual(['p2020', 'today', 'other']);

    const late = await createConnection(db.url);
    await late.query('START TRANSACTION');
    const lateId = await add(late, "'2020-08-01'");
    release();
    await untilFigures('the table is in use', fast, ({ pauses }) => pauses.locked > 0);
    await waitUntil('slow has handled the first', () => ids.every((id) => stage.ids('slow').has(id)));

    release = stage.hold('slow');
    await late.query('COMMIT');
    await late.end();
    await untilFigures('it waits again', fast, ({ heldBack }) =>
      heldBack.some(({ who }) => who === 'pipeline slow'),
    );
    await watchFor(300, 'the rows are there', async () => (await partitions()).length > 2);
    expect(stage.ids('slow').has(lateId)).toBe(false);
    release();
    await waitUntil('it is dropped', async () => (await partitions()).join() === 'today,other');
    expect(stage.notHandledByAll([...ids, lateId])).toEqual([]);
    expect(await idsIn(db)).toEqual([young]);
    // The pipelines have read over all of that.
    const [after] = await Promise.all([add(db.pool, 'utc_timestamp()')]);
    await waitUntil('both go on', () => stage.notHandledByAll([after]).length === 0);
    await untilFigures('it is counted', fast, ({ partitionsDropped }) => partitionsDropped === 1);
  });

  test('rows are told to be old by a column or by their ids, whatever the key is made of', async () => {
    await using db = await testMysqlDatabase(kind);
    const old = { keep: 3_600_000 };
    const remake = async (columns: string, ...rows: string[]): Promise<void> => {
      await db.pool.query('DROP TABLE IF EXISTS outbox');
      await db.pool.query(`CREATE TABLE outbox (\`key\` varchar(9), payload text, ${columns})`);
      for (const row of rows) await db.pool.query(`INSERT INTO outbox VALUES ('k', '{}', ${row})`);
    };
    const ago = (minutes: number): string => `utc_timestamp() - interval ${String(minutes)} minute`;
    await remake(
      'a int, b varchar(9), at datetime, primary key (a, b), key (at)',
      `1, 'it''s', ${ago(90)}`,
      `2, 'b?', ${ago(1)}`,
    );
    expect(await oldIn(db, { ...old, createdAt: 'at' })).toEqual(['1', "it's"]);
    await remake(
      'a int, b varchar(9), at datetime, primary key (a, b)',
      `1, 'it''s', ${ago(90)}`,
      `2, 'b?', ${ago(100)}`,
    );
    {
      await using pruner = await prunerOf(db, { ...old, createdAt: 'at' });
      const first = await pruner.look(null, 1);
      expect(first).toEqual({ old: [['1', "it's"]], looked: 1, last: ['1', "it's"] });
      const second = await pruner.look(first.last, 1);
      expect(second.old).toEqual([['2', 'b?']]);
      expect(await pruner.remove([...first.old, ...second.old, ['3', 'c']])).toBe(2);
    }
    // Each could be taken for a column of the statement that deletes them.
    await remake('b varchar(9) primary key, at datetime', `'foo."bar', ${ago(90)}`, `'fo"bar', ${ago(90)}`);
    {
      await using pruner = await prunerOf(db, { ...old, createdAt: 'at' });
      await pruner.look(null, 10);
      expect(await pruner.remove([['foo."bar']])).toBe(1);
      expect((await pruner.look(null, 10)).old).toEqual([['fo"bar']]);
    }
    const hex = (minutes: number, version: string): string =>
      `${(Date.now() - minutes * 60_000).toString(16).padStart(12, '0')}${version}00080000000000000ff`.slice(
        0,
        32,
      );
    await remake(
      'id binary(16) primary key',
      ...[hex(1, '7'), hex(90, '7'), hex(95, '4')].map((id) => `X'${id}'`),
    );
    const [found = ''] = await oldIn(db, { ...old, createdAt: { id: 'uuidv7' } });
    expect(found.slice(12, 13)).toBe('7');
    {
      await using pruner = await prunerOf(db, { ...old, createdAt: { id: 'uuidv7' } });
      await pruner.look(null, 10);
      expect(await pruner.remove([[found]])).toBe(1);
      expect((await pruner.look(null, 10)).old).toEqual([]);
    }
    await expect(oldIn(db, old)).rejects.toMatchObject({ code: 'MYSQL_PRUNE_TIME' });

    await remake(`at date primary key) PARTITION BY RANGE COLUMNS (at) (PARTITION a VALUES LESS THAN ('2020-01-01'),
      PARTITION b VALUES LESS THAN ('2021-01-01'), PARTITION c VALUES LESS THAN ('2090-01-01')`);
    {
      await using pruner = await prunerOf(db, { ...old, createdAt: 'at' });
      const [a, b] = ['a', 'b'].map((name) => ({ name, setAside: false }));
      expect(await pruner.partitions()).toEqual([a, b]);
      expect(await pruner.setAside(a ?? expect.fail())).toBe('done');
      const [twin, ...others] = await pruner.partitions();
      expect(twin?.setAside).toBe(true);
      expect(others).toEqual([b]);
      await pruner.drop(twin ?? expect.fail());
    }
  });
});

test('MySQL: while a replica is behind, it pauses', async () => {
  await using server = await startMysql({ exclusive: true });
  await using replica = await startReplica(server);
  await using db = await testMysqlDatabase('mysql', server.url);
  await db.pool.query(TABLE);
  await replica.catchUp();
  const held = await createConnection(replica.url);
  await held.query('FLUSH TABLES WITH READ LOCK');
  await using stage = new PruneStage();
  const prune = { keep: 0, ...OFTEN, replicas: [replica.url], replicaLag: { time: 500 } };
  const ids = await insert(db.pool, ['before']);
  const behind = 'SELECT timestampdiff(second, max(created_at), now(6)) > 1 AS behind FROM outbox';
  await db.waitFor('the replica is behind by more than a second', behind);
  const source = mysql({ url: db.url, start: 'snapshot', outbox: OUTBOX, serverId: db.serverId() });
  const pipeline = await stage.start('orders', source, prune);
  const { paused } = await untilFigures('it pauses', pipeline, (figures) => figures.paused !== null);
  expect(paused?.kind).toBe('replicas');
  expect(paused?.why).toMatch(/^the replica .*:\d+ is \d+ ms behind$/);
  expect(await idsIn(db)).toEqual(ids);
  await held.query('UNLOCK TABLES');
  await held.end();
  await waitUntil('it goes on', async () => (await idsIn(db)).length === 0);
});
