import type { OutboxEvent } from '@strandline/core';
import {
  testDatabase,
  testMysqlDatabase,
  TestLog,
  waitUntil,
  type TestMysqlDatabase,
} from '@strandline/test-kit';
import type { RowDataPacket } from 'mysql2/promise';
import { definePipeline, memoryOffsets, mysql, type Pipeline } from 'strandline';
import { describe, expect, test } from 'vitest';
import { differences, names, type Said } from './column-decoding/columns.js';
import { create, inSession, insertDrawn, selected, typesOf } from './column-decoding/mysql-table.js';
import {
  MYSQL_TABLES,
  STOPS_THE_STREAM,
  TESTED_CHARSETS,
  type MysqlColumn,
} from './column-decoding/mysql-types.js';
import * as postgres from './column-decoding/postgres-table.js';
import { POSTGRES_TABLES, POSTGRES_TYPES, UNWRITABLE } from './column-decoding/postgres-types.js';
import { App } from './source-app.js';

/**
 * What the stream says of a row is what SELECT says of it, for every type that the server has and values that are drawn
 * anew in each run. Many rows are inserted at once, in a table for each group of types, and compared by row and column.
 *
 * COLUMN_ROWS=5000 draws more rows for each table, COLUMN_SEED=… draws those of a run that has failed again.
 */
function streamed(events: readonly OutboxEvent[], columns: readonly string[]): Said {
  return new Map(events.map((event) => [event.id, columns.map((name) => event.columns[name])]));
}

describe('Postgres', () => {
  test.each(Object.entries(POSTGRES_TABLES))('%s', async (_, columns) => {
    await using app = await App.withTables(
      `${POSTGRES_TYPES}; CREATE TABLE outbox (id bigint, ${postgres.declared(columns)})`,
    );
    const all = names(columns.length);
    const pipeline = await app.start({ outbox: { table: 'outbox', id: 'id', key: 'id', columns: all } });
    await app.untilHandled(await postgres.insertDrawn(app.db.pool, columns));
    await app.stop(pipeline);
    const types = columns.map(({ type }) => type);
    const wrong = differences(types, await postgres.selected(app.db.pool), streamed(app.handled, all));
    expect(wrong).toEqual([]);
  });

  test('of every type that the server has there are values, or none can be written', async () => {
    await using db = await testDatabase();
    await db.pool.query(POSTGRES_TYPES);
    for (const [index, columns] of Object.values(POSTGRES_TABLES).entries())
      await db.pool.query(`CREATE TABLE outbox_${String(index)} (${postgres.declared(columns)})`);
    const { rows } = await db.pool.query<{ missing: string }>(
      `SELECT typname AS missing FROM pg_type
        WHERE typtype IN ('b', 'r', 'm') AND typcategory <> 'A' AND typnamespace = 'pg_catalog'::regnamespace
          AND oid NOT IN (SELECT atttypid FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
            WHERE relnamespace = 'public'::regnamespace AND attnum > 0)
        ORDER BY 1`,
    );
    expect(rows.map(({ missing }) => missing)).toEqual([...UNWRITABLE].sort());
    for (const type of UNWRITABLE) {
      // feature_not_supported
      await expect(db.pool.query(`SELECT ''::${type}`), type).rejects.toMatchObject({ code: '0A000' });
    }
  });

  test('a type of which no value can be written is NULL', async () => {
    const columns = UNWRITABLE.map((type, index) => `c${String(index)} ${type}`).join(', ');
    await using app = await App.withTables(`CREATE TABLE outbox (id int, ${columns})`);
    const all = names(UNWRITABLE.length);
    const pipeline = await app.start({ outbox: { table: 'outbox', id: 'id', key: 'id', columns: all } });
    await app.sql('INSERT INTO outbox VALUES (1)');
    await app.untilHandled(1);
    await app.stop(pipeline);
    expect(app.handled[0]?.columns).toEqual(Object.fromEntries(all.map((name) => [name, null])));
  });
});

describe.each(['mysql', 'mariadb'] as const)('%s', (kind) => {
  const ofServer = (columns: readonly MysqlColumn[]): readonly MysqlColumn[] =>
    columns.filter(({ server = kind }) => server === kind);
  const tables = Object.entries(MYSQL_TABLES)
    .map(([name, columns]) => [name, ofServer(columns)] as const)
    .filter(([, columns]) => columns.length > 0);

  test.each(tables)('%s', async (_, columns) => {
    await using db = await testMysqlDatabase(kind);
    await inSession(db, (sql) => create(sql, columns));
    const events: OutboxEvent[] = [];
    const all = names(columns.length);
    await using pipeline = pipelineOn(db, all, events);
    await pipeline.start();
    const rows = await inSession(db, (sql) => insertDrawn(sql, columns));
    await Promise.race([waitUntil('all rows are handled', () => events.length === rows), pipeline.finished]);
    const types = columns.map(({ type }) => type.slice(0, 60));
    const said = await inSession(db, (sql) => selected(sql, columns));
    expect(differences(types, said, streamed(events, all))).toEqual([]);
  });

  test('of every type and charset that the server has there are values', async () => {
    await using db = await testMysqlDatabase(kind);
    await inSession(db, async (sql) => {
      for (const [index, [, columns]] of tables.entries()) await create(sql, columns, `t${String(index)}`);
      const [tested] = await sql.query<RowDataPacket[]>(
        'select distinct data_type as type from information_schema.columns where table_schema = database()',
      );
      const known = new Set([...tested.map(({ type }) => String(type)), ...STOPS_THE_STREAM[kind]]);
      const found = await typesOf(sql);
      expect(found.size).toBeGreaterThan(25);
      expect([...found].filter((type) => !known.has(type))).toEqual([]);
      const [charsets] = await sql.query<RowDataPacket[]>(
        'select character_set_name as name from information_schema.character_sets',
      );
      const untested = charsets
        .map(({ name }) => String(name))
        .filter((name) => !TESTED_CHARSETS.includes(name));
      expect(untested).toEqual([]);
    });
  });

  test.each(STOPS_THE_STREAM[kind].map((type) => [type]))(
    '%s, behind which the next column is not found, stops the stream',
    async (type) => {
      await using db = await testMysqlDatabase(kind);
      await db.pool.query(`create table outbox (id int primary key, c0 int, odd ${type}(2), c1 int)`);
      const events: OutboxEvent[] = [];
      await using pipeline = pipelineOn(db, ['c0', 'c1'], events);
      await pipeline.start();
      await db.pool.query('insert into outbox (id, c0, c1) values (1, 2, 3)');
      await expect(pipeline.finished).rejects.toMatchObject({ code: 'MYSQL_DECODE' });
      expect(events).toEqual([]);
    },
  );
});

function pipelineOn(db: TestMysqlDatabase, columns: readonly string[], events: OutboxEvent[]): Pipeline {
  return definePipeline({
    name: `columns-${db.name}`,
    source: mysql({
      url: db.url,
      serverId: db.serverId(),
      start: 'now',
      outbox: { table: 'outbox', id: 'id', key: 'id', columns },
    }),
    offsets: memoryOffsets(),
    drainTimeout: 0,
    log: new TestLog(),
    handle: (event) => void events.push(event),
  });
}
