import { waitUntil } from '@strandline/test-kit';
import { expect, test } from 'vitest';
import { App } from './source-app.js';

test('an application may change and remove rows of an outbox without a replica identity while it is read', async () => {
  await using app = await App.withTables('CREATE TABLE outbox (id int, key text, payload text)');
  const pipeline = await app.start();
  await app.sql(`INSERT INTO outbox VALUES (1, 'a', NULL), (2, 'b', NULL)`);
  // A publication of these would have the server refuse them: "does not have a replica identity".
  await app.sql(`UPDATE outbox SET payload = 'changed' WHERE id = 1`);
  await app.sql('DELETE FROM outbox WHERE id = 2');
  await app.sql('TRUNCATE outbox');
  await app.sql(`INSERT INTO outbox VALUES (3, 'c', NULL)`);
  await app.untilHandled(3);
  await app.stop(pipeline);
  expect(app.ids).toEqual(['1', '2', '3']);
});

test('a start that is given up while its slot waits to be made leaves none, which would hold the log for nobody', async () => {
  await using app = await App.create();
  const creating = `SELECT count(*)::int AS sessions FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE 'CREATE_REPLICATION_SLOT%' AND state = 'active'`;
  const sessions = async (): Promise<number> => {
    const { rows } = await app.db.pool.query<{ sessions: number }>(creating);
    return rows[0]?.sessions ?? 0;
  };
  const open = await app.db.pool.connect();
  try {
    await open.query(`BEGIN; INSERT INTO outbox (key) VALUES ('early')`);
    const pipeline = app.pipeline();
    const starting = pipeline.start().catch(() => undefined);
    await waitUntil('the slot waits', async () => (await sessions()) > 0);
    await Promise.all([pipeline.stop(), starting]);
    await open.query('COMMIT');
  } finally {
    open.release();
  }
  await waitUntil('nobody makes it any more', async () => (await sessions()) === 0);
  expect(await app.hasSlot()).toBe(false);
  expect(app.storage.size).toBe(0);
  const pipeline = await app.start();
  await app.sql(`INSERT INTO outbox (key) VALUES ('a')`);
  await app.untilHandled(1);
  await app.stop(pipeline);
  expect(app.handled.map(({ key }) => key)).toEqual(['a']);
});
