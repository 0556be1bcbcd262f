import type { SourceStream } from '@strandline/core';
import { memoryOffsets } from '@strandline/offsets-local';
import { mysqlServersOfRun } from '@strandline/servers';
import { mysql } from '@strandline/source-mysql';
import {
  createMysqlOutbox,
  insertMysqlRows,
  MysqlSessions,
  rowsInTurn,
  rowsOf,
  testMysqlDatabase,
  TestLog,
  waitUntil,
} from '@strandline/test-kit';
import { expect, test } from 'vitest';
import { lockName } from '../../packages/source-mysql/src/lock.js';
import { describeSource } from './source.js';

/** Rows of one statement: it must fit into the server's max_allowed_packet. */
const ROWS_OF_A_STATEMENT = 5_000;

/** Every version that the run has. */
for (const name of await mysqlServersOfRun()) {
  describeSource(name, async () => {
    const db = await testMysqlDatabase(name);
    const sessions = new MysqlSessions(db, lockName(`${db.name}.outbox`, 'conformance'));
    const outbox = await createMysqlOutbox(db);
    await db.pool.query('CREATE TABLE elsewhere (n int)');
    const inTransaction = async (statements: readonly ReturnType<typeof rowsOf>[]): Promise<void> => {
      const connection = await db.pool.getConnection();
      await connection.beginTransaction();
      for (const rows of statements) await insertMysqlRows(connection, rows);
      await connection.commit();
      connection.release();
    };
    return {
      source: (options = {}) =>
        mysql({ ...outbox, reconnect: { initialDelay: 50, maxDelay: 200 }, ...options }),
      insert: (...keys) => insertMysqlRows(db.pool, rowsOf(...keys)),
      insertMany: async (count, payload = 0) => {
        const rows = rowsInTurn(count, 10).map(({ key }) => ({ key, payload: 'x'.repeat(payload) }));
        const statements = Array.from({ length: Math.ceil(count / ROWS_OF_A_STATEMENT) }, (_, index) =>
          rows.slice(index * ROWS_OF_A_STATEMENT, (index + 1) * ROWS_OF_A_STATEMENT),
        );
        await inTransaction(statements);
      },
      commitElsewhere: async () => {
        await db.pool.query('INSERT INTO elsewhere VALUES (1)');
      },
      begin: async () => {
        const connection = await db.pool.getConnection();
        await connection.beginTransaction();
        return {
          insert: (...keys) => insertMysqlRows(connection, rowsOf(...keys)),
          commit: async () => {
            await connection.commit();
            connection.release();
          },
          rollback: async () => {
            await connection.rollback();
            connection.release();
          },
        };
      },
      // All but the one that holds the lock. On Postgres the connection of the log is the lock, and whoever comes
      // back first has it; here the lock is gone with its connection, and the source says so: see mysql-promises.
      // All but the one that holds the lock. On Postgres the connection of the log is the lock, and whoever comes
      // back first has it; here the lock is gone with its connection, and the source says so: see mysql-promises.
      cutConnections: async () => {
        // Reading begins the dump; the suite cuts what reads, be it only just.
        await waitUntil('the dump has begun', async () => {
          const kinds = (await sessions.list()).map(({ kind }) => kind);
          return kinds.includes('dump') && kinds.includes('query');
        });
        await sessions.kill('dump', 'query');
      },
      [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
    };
  });

  // In place of the suite's cases for servers that know their readers.
  test(`${name} releases nothing when a position is confirmed: an older offset can be read from yet`, async () => {
    await using db = await testMysqlDatabase(name);
    const source = mysql(await createMysqlOutbox(db));
    const offsets = memoryOffsets();
    const readOne = async (confirms: boolean): Promise<string> => {
      const stream: SourceStream = await source.open({
        pipeline: 'confirming',
        load: () => offsets.load('confirming'),
        claim: (seed) => offsets.claim('confirming', seed),
        standby: () => undefined,
        signal: new AbortController().signal,
        log: new TestLog(),
      });
      if (confirms) await insertMysqlRows(db.pool, rowsOf('a'));
      try {
        for await (const { events } of stream.read()) {
          const [event] = events;
          if (event === undefined) continue;
          if (confirms) stream.confirm(event.position);
          return event.id;
        }
        return 'none';
      } finally {
        await stream.close();
      }
    };
    const first = await readOne(true);
    expect(await readOne(false)).toBe(first);
  });
}
