import { postgres } from '@strandline/source-postgres';
import { outboxSource, PostgresTestOutbox, rowsInTurn, rowsOf } from '@strandline/test-kit';
import { describeLogReader } from './log-reader.js';
import { openTransaction } from './open-transaction.js';

describeLogReader('Postgres', async () => {
  const outbox = await PostgresTestOutbox.create();
  const { db } = outbox;
  return {
    source: () => postgres({ ...outboxSource(db), reconnect: { initialDelay: 50, maxDelay: 200 } }),
    insert: (...keys) => outbox.insert(rowsOf(...keys)),
    insertMany: (count, payload = 0) =>
      outbox.insertInOneTransaction(
        rowsInTurn(count, 10).map(({ key }) => ({ key, payload: 'x'.repeat(payload) })),
      ),
    begin: () => openTransaction(outbox),
    cutConnections: () => outbox.sessionsOf('conformance').end('log', 'query'),
    belongings: async () => {
      const { rows } = await db.pool.query<{ name: string }>(
        `SELECT 'slot ' || slot_name AS name FROM pg_replication_slots WHERE database = current_database()
         UNION ALL SELECT 'session ' || pid FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE 'strandline/%'`,
      );
      return rows.map(({ name }) => name);
    },
    [Symbol.asyncDispose]: () => outbox[Symbol.asyncDispose](),
  };
});
