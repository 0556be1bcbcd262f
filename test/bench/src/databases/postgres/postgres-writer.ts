import pg from 'pg';
import type { WriterConnection } from '../driver.js';
import { payloadSql } from './outbox.js';

export async function connectWriter(url: string): Promise<WriterConnection> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    insert: async (key, ordinal, payload) => {
      await client.query(
        `begin; insert into outbox (key, type, payload)
          values (${String(key)}, 'order.moved', ${payloadSql(String(ordinal), payload)})`,
      );
    },
    commit: async () => {
      await client.query('commit');
    },
    end: () => client.end(),
  };
}
