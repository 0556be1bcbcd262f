import type { Position } from '@strandline/core';
import { postgres } from '@strandline/source-postgres';
import { createOutbox, insertRows, rowsInTurn, rowsOf, testDatabase } from '@strandline/test-kit';
import { describeSource } from './source.js';

describeSource('Postgres', async () => {
  const db = await testDatabase();
  const outbox = await createOutbox(db);
  await db.pool.query('CREATE TABLE elsewhere (n int)');
  return {
    source: (options = {}) => postgres({ ...outbox, ...options }),
    insert: (...keys) => insertRows(db.pool, rowsOf(...keys)),
    insertMany: async (count, payload = 0) => {
      const rows = rowsInTurn(count, 10).map(({ key }) => ({ key, payload: 'x'.repeat(payload) }));
      await insertRows(db.pool, rows);
    },
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
    begin: async () => {
      const client = await db.pool.connect();
      await client.query('BEGIN');
      const end = async (how: 'COMMIT' | 'ROLLBACK'): Promise<void> => {
        await client.query(how);
        client.release();
      };
      return {
        insert: (...keys) => insertRows(client, rowsOf(...keys)),
        commit: () => end('COMMIT'),
        rollback: () => end('ROLLBACK'),
      };
    },
    cutConnections: async () => {
      await db.pool.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE 'strandline/%'`,
      );
    },
    kept: async (): Promise<Position> => {
      const { rows } = await db.pool.query<{ position: string }>(
        `SELECT confirmed_flush_lsn || ':0' AS position FROM pg_replication_slots WHERE slot_name = $1`,
        [db.slot()],
      );
      return rows[0]?.position ?? '';
    },
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
});
