import type { SourceStream } from '@strandline/core';
import { memoryOffsets } from '@strandline/offsets-local';
import { mysqlServersOfRun } from '@strandline/servers';
import { mysql } from '@strandline/source-mysql';
import {
  createMysqlOutbox,
  insertMysqlRows,
  mysqlOutboxSource,
  MysqlTestOutbox,
  rowsInTurn,
  rowsOf,
  testMysqlDatabase,
  TestLog,
} from '@strandline/test-kit';
import { expect, test } from 'vitest';
import { openTransaction } from './open-transaction.js';
import { describeSource } from './source.js';

/** Every version that the run has. */
for (const name of await mysqlServersOfRun()) {
  describeSource(name, false, async () => {
    const outbox = await MysqlTestOutbox.create(name);
    const { pool } = outbox.db;
    await pool.query('CREATE TABLE elsewhere (n int)');
    return {
      source: (options = {}) =>
        mysql({
          ...mysqlOutboxSource(outbox.url),
          reconnect: { initialDelay: 50, maxDelay: 200 },
          ...options,
        }),
      insert: (...keys) => outbox.insert(rowsOf(...keys)),
      insertMany: (count, payload = 0) =>
        outbox.insertInOneTransaction(
          rowsInTurn(count, 10).map(({ key }) => ({ key, payload: 'x'.repeat(payload) })),
        ),
      commitElsewhere: async () => {
        await pool.query('INSERT INTO elsewhere VALUES (1)');
      },
      begin: () => openTransaction(outbox),
      // All but the one that holds the lock. On Postgres the connection of the log is the lock, and whoever comes
      // back first has it; here the lock is gone with its connection, and the source says so: see mysql-ownership.
      cutConnections: () => outbox.sessionsOf('conformance').end('log', 'query'),
      [Symbol.asyncDispose]: () => outbox[Symbol.asyncDispose](),
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
