import type { RowDataPacket } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { startMariadb, startMysql, startReplica, withConnection } from '../src/index.js';

function run(url: string, sql: string): Promise<unknown> {
  return withConnection(url, async (connection) => (await connection.query<RowDataPacket[]>(sql))[0]);
}

test.each([
  { name: 'MySQL', start: startMysql },
  { name: 'MariaDB', start: startMariadb },
])(
  'a $name replica follows its source by GTID, and writes when it is promoted',
  async ({ start }) => {
    await using source = await start({ exclusive: true });
    const url = await source.createDatabase('shop');
    await run(url, 'CREATE TABLE t (id INT PRIMARY KEY)');
    await run(url, 'INSERT INTO t VALUES (1)');

    await using replica = await startReplica(source);
    const there = Object.assign(new URL(url), { port: String(replica.port) }).href;
    expect(replica).toMatchObject({ kind: source.kind, version: source.version });
    expect(await run(there, 'SELECT id FROM t')).toEqual([{ id: 1 }]);
    expect(await run(there, 'SELECT @@read_only AS r')).toEqual([{ r: 1 }]);

    await source.restart();
    await run(url, 'INSERT INTO t VALUES (2)');
    await replica.catchUp();
    await source.kill();
    await replica.promote();
    await run(there, 'INSERT INTO t VALUES (3)');
    expect(await run(there, 'SELECT id FROM t')).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);

    // Its own binlog has the source's transactions under the source's GTIDs, and its own: a reader can go on there.
    const ids =
      source.kind === 'mysql'
        ? `SELECT LENGTH(@@GLOBAL.gtid_executed) - LENGTH(REPLACE(@@GLOBAL.gtid_executed, ':', '')) AS n`
        : `SELECT COUNT(*) AS n FROM (SELECT 1) one WHERE @@GLOBAL.gtid_binlog_pos = CONCAT('0-', @@server_id, '-5')`;
    expect(await run(there, ids)).toEqual([{ n: source.kind === 'mysql' ? 2 : 1 }]);
  },
  120_000,
);
