import { IdSet } from '@strandline/source-kit';
import { TestLog, testMysqlDatabase } from '@strandline/test-kit';
import { describe, expect, test } from 'vitest';
import { parseMysqlOptions } from '../../packages/source-mysql/src/config.js';
import { createConnector, withSession } from '../../packages/source-mysql/src/connection.js';
import { insertedBetween } from '../../packages/source-mysql/src/inserted-between.js';
import { inspectServer, readLogEnd } from '../../packages/source-mysql/src/server.js';
import { findTable } from '../../packages/source-mysql/src/table.js';
import { bothKinds } from './mysql-follower.js';

describe.each(bothKinds)('what was inserted while a start snapshot was under way: %s', (kind) => {
  test.each([
    ['ids in a row are few entries', 'bigint AUTO_INCREMENT', 'NULL', 'all'],
    ['other ids are kept up to a limit, and then it says so', 'char(36)', 'uuid()', 'MYSQL_SNAPSHOT_STALE'],
  ])('%s', async (_, type, id, outcome) => {
    await using db = await testMysqlDatabase(kind);
    await db.pool.query(`CREATE TABLE outbox (id ${type} PRIMARY KEY, \`key\` varchar(9) NOT NULL)`);
    const config = parseMysqlOptions({ url: db.url, outbox: { table: 'outbox', id: 'id', key: 'key' } });
    const connector = createConnector(config.connection, config, new AbortController().signal);
    const { facts, table } = await withSession(connector, async (sql) => ({
      facts: await inspectServer(connector, sql, config.metadata),
      table: await findTable(sql, config.outbox),
    }));
    const place = (): ReturnType<typeof readLogEnd> =>
      withSession(connector, (sql) => readLogEnd(sql, facts));
    const start = await place();
    for (let n = 0; n < 20; n += 1) await db.pool.query(`INSERT INTO outbox VALUES (${id}, 'k')`);
    const end = await place();
    const live = { connector, config, facts, table, serverId: db.serverId(), log: new TestLog() };
    const ids = insertedBetween(live, start, end, new AbortController().signal, new IdSet(5));
    if (outcome === 'all') {
      const known = await ids;
      expect(['0', '1', '20', '21'].map((row) => known.has(row))).toEqual([false, true, true, false]);
    } else {
      await expect(ids).rejects.toMatchObject({ code: outcome });
    }
  });
});
