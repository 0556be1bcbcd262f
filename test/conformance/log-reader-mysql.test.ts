import { mysqlServersOfRun } from '@strandline/servers';
import { mysql } from '@strandline/source-mysql';
import { mysqlOutboxSource, MysqlTestOutbox, rowsInTurn, rowsOf } from '@strandline/test-kit';
import type { RowDataPacket } from 'mysql2/promise';
import { describeLogReader } from './log-reader.js';
import { openTransaction } from './open-transaction.js';

/** Every version that the run has. */
for (const name of await mysqlServersOfRun()) {
  describeLogReader(name, async () => {
    const outbox = await MysqlTestOutbox.create(name);
    const { db } = outbox;
    return {
      source: () =>
        mysql({ ...mysqlOutboxSource(outbox.url), reconnect: { initialDelay: 50, maxDelay: 200 } }),
      insert: (...keys) => outbox.insert(rowsOf(...keys)),
      insertMany: (count, payload = 0) =>
        outbox.insertInOneTransaction(
          rowsInTurn(count, 10).map(({ key }) => ({ key, payload: 'x'.repeat(payload) })),
        ),
      begin: () => openTransaction(outbox),
      cutConnections: () => outbox.sessionsOf('conformance').end('log', 'query'),
      // That every other session has ended is seen when the database goes.
      belongings: async () => {
        const [rows] = await db.pool.query<RowDataPacket[]>(
          "SELECT id AS id FROM information_schema.processlist WHERE user = ? AND command LIKE 'Binlog Dump%'",
          [db.name],
        );
        return rows.map((row) => String(row['id']));
      },
      [Symbol.asyncDispose]: () => outbox[Symbol.asyncDispose](),
    };
  });
}
