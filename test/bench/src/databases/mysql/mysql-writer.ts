import mysql from 'mysql2/promise';
import type { WriterConnection } from '../driver.js';
import { KEY, payloadSql } from './outbox.js';

export async function connectWriter(url: string): Promise<WriterConnection> {
  const connection = await mysql.createConnection({ uri: url, multipleStatements: true });
  return {
    insert: async (key, ordinal) => {
      await connection.query(
        `begin; insert into outbox (${KEY}, type, payload)
          values (${String(key)}, 'order.moved', ${payloadSql(String(ordinal))})`,
      );
    },
    commit: async () => {
      await connection.query('commit');
    },
    end: () => connection.end(),
  };
}
