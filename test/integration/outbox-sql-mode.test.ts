import { createOutbox, insertEvents, mysql2CallbackExecutor, mysql2Executor } from '@strandline/outbox';
import { testMysqlDatabase } from '@strandline/test-kit';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { createConnection as createCallbackConnection } from 'mysql2';
import { describe, expect, test } from 'vitest';

/** A value that, written into a statement with backslashes, ends where its quote is. */
const BITES = "x'), ('0', 'forged', 'forged', null, null) -- \\' \\0 \\n ü 🐚";
const PLAIN_QUOTES = "set session sql_mode = concat(@@sql_mode, ',NO_BACKSLASH_ESCAPES')";

describe.each(['mysql', 'mariadb'] as const)('%s without backslash escapes', (kind) => {
  test.each(['promises', 'callbacks'])('takes every value as it is, by mysql2 with %s', async (style) => {
    await using db = await testMysqlDatabase(kind);
    const connection = await createConnection(db.url);
    const callbacks = createCallbackConnection(db.url);
    try {
      const executor =
        style === 'promises' ? mysql2Executor(connection, kind) : mysql2CallbackExecutor(callbacks, kind);
      await executor.run(PLAIN_QUOTES, []);
      await createOutbox(executor);
      const events = [
        { key: BITES, type: BITES, payload: { text: BITES }, headers: { text: BITES } },
        { key: 'k', type: 't', payload: null },
      ];
      const ids = await insertEvents(executor, events);
      const [rows] = await connection.query<RowDataPacket[]>(
        'select id, `key`, type, cast(payload as char) as payload from strandline_outbox order by id',
      );
      expect(
        rows.map(({ id, key, type }) => ({ id: id as string, key: key as string, type: type as string })),
      ).toEqual(events.map(({ key, type }, n) => ({ id: ids[n], key, type })));
      expect(JSON.parse(String(rows[0]?.['payload']))).toEqual({ text: BITES });
    } finally {
      await connection.end();
      callbacks.destroy();
    }
  });
});
