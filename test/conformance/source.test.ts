import { postgres } from '@strandline/source-postgres';
import { outboxSource, PostgresTestOutbox, rowsInTurn, rowsOf } from '@strandline/test-kit';
import { openTransaction } from './open-transaction.js';
import { describeSource } from './source.js';

describeSource('Postgres', true, async () => {
  const outbox = await PostgresTestOutbox.create();
  const { db, release } = outbox;
  await db.pool.query('CREATE TABLE elsewhere (n int)');
  return {
    source: (options = {}) => postgres({ ...outboxSource(db), ...options }),
    insert: (...keys) => outbox.insert(rowsOf(...keys)),
    insertMany: (count, payload = 0) =>
      outbox.insertInOneTransaction(
        rowsInTurn(count, 10).map(({ key }) => ({ key, payload: 'x'.repeat(payload) })),
      ),
    // Slot creation waits for every transaction that runs at that moment.
    openingWaits: async () => {
      await db.waitFor(
        'slot creation waits',
        `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
           AND query LIKE 'CREATE_REPLICATION_SLOT%' AND wait_event_type = 'Lock')`,
      );
    },
    commitElsewhere: async () => {
      await db.pool.query('INSERT INTO elsewhere VALUES (1)');
    },
    begin: () => openTransaction(outbox),
    cutConnections: () => outbox.sessionsOf('conformance').end('log', 'query'),
    kept: () => release.upTo(),
    [Symbol.asyncDispose]: () => outbox[Symbol.asyncDispose](),
  };
});
