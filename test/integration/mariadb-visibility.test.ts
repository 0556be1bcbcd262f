import { startMariadb } from '@strandline/servers';
import { MysqlTestOutbox, rowsOf, TestLog, waitUntil } from '@strandline/test-kit';
import { definePipeline, memoryOffsets } from 'strandline';
import { expect, test } from 'vitest';

test("with visibility 'committed', a transaction that is logged and waits for its commit is handed out once it is visible", async () => {
  const waitMs = 400;
  // The log is sent to readers, and the commit waits for one of them to acknowledge it: no one does.
  await using server = await startMariadb({
    exclusive: true,
    settings: {
      'rpl-semi-sync-master-timeout': String(waitMs),
      'rpl-semi-sync-master-wait-point': 'AFTER_SYNC',
    },
  });
  await using outbox = await MysqlTestOutbox.create('mariadb', server.url);
  const { pool } = outbox.db;
  const run = async (visibility: 'committed' | 'logged'): Promise<boolean[]> => {
    const found: boolean[] = [];
    await using pipeline = definePipeline({
      name: visibility,
      source: outbox.source({ visibility }),
      offsets: memoryOffsets(),
      log: new TestLog(),
      handle: async ({ id }) => {
        found.push(await outbox.has(id));
      },
    });
    await pipeline.start();
    for (let round = 1; round <= 3; round += 1) {
      // It gives up waiting after the first time, until it is switched on again.
      await pool.query('SET GLOBAL rpl_semi_sync_master_enabled = OFF');
      await pool.query('SET GLOBAL rpl_semi_sync_master_enabled = ON');
      const startedAt = performance.now();
      await outbox.insert(rowsOf('k'));
      expect(performance.now() - startedAt, 'the commit waited').toBeGreaterThan(waitMs / 2);
      await waitUntil('it is handled', () => found.length === round);
    }
    return found;
  };
  expect(await run('logged'), 'the race is there').toEqual([false, false, false]);
  expect(await run('committed')).toEqual([true, true, true]);
});
