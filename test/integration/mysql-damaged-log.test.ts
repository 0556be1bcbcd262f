import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { OutboxEvent } from '@strandline/core';
import { startMariadb, startMysql, type MysqlServer } from '@strandline/servers';
import { testMysqlDatabase, TestLog, waitUntil, type TestMysqlDatabase } from '@strandline/test-kit';
import { definePipeline, memoryOffsets, mysql, type Pipeline } from 'strandline';
import { describe, expect, test } from 'vitest';

/** What stands in the row that is damaged, so that its length is found in the log. */
const MARK = 'the-row-whose-length-will-lie';

/** Overwrites the length in front of a text in the newest file of the log, as a broken disk does. */
async function damageLength(server: MysqlServer, length: number): Promise<void> {
  const directory = server.dataDirectory;
  if (directory === undefined) throw new Error('The log of a server that is not local can not be damaged.');
  const files = (await readdir(directory)).filter((name) => /bin.*\.\d{6}$/.test(name)).sort();
  const handle = await open(path.join(directory, files.at(-1) ?? ''), 'r+');
  try {
    const bytes = await handle.readFile();
    // The last one: MariaDB writes the statement in front of its rows.
    const at = bytes.lastIndexOf(MARK) - 2;
    expect(bytes.readUInt16LE(at)).toBe(MARK.length);
    bytes.writeUInt16LE(length, at);
    await handle.write(bytes, at, 2, at);
  } finally {
    await handle.close();
  }
}

function pipelineOn(db: TestMysqlDatabase, events: OutboxEvent[], log: TestLog): Pipeline {
  return definePipeline({
    name: `damaged-${db.name}`,
    source: mysql({
      url: db.url,
      serverId: db.serverId(),
      start: 'earliest',
      outbox: { table: 'outbox', id: 'id', key: 'id', payload: 'payload' },
    }),
    offsets: memoryOffsets(),
    drainTimeout: 0,
    log,
    handle: (event) => void events.push(event),
  });
}

describe.each(['mysql', 'mariadb'] as const)('a damaged log of %s', (kind) => {
  // One byte too many leads into the next row, or into the checksum; many lead out of the packet.
  test.each([
    ['by a little', MARK.length + 2],
    ['by much', 2_000],
  ])(
    'in which a length lies %s stops the pipeline before that transaction, and is not tried again',
    async (_, length) => {
      const start = kind === 'mysql' ? startMysql : startMariadb;
      await using server = await start({ origin: 'local' });
      await using db = await testMysqlDatabase(kind, server.url);
      await db.pool.query(
        'create table outbox (id int primary key, payload varchar(2000)) character set utf8mb4',
      );
      await db.pool.query("insert into outbox values (1, 'whole')");
      await db.pool.query('insert into outbox values (2, ?)', [MARK]);
      await db.pool.query("insert into outbox values (3, 'behind it')");
      await damageLength(server, length);
      const events: OutboxEvent[] = [];
      const log = new TestLog();
      await using pipeline = pipelineOn(db, events, log);
      await pipeline.start();
      await expect(pipeline.finished).rejects.toMatchObject({ code: 'MYSQL_DECODE' });
      await waitUntil('what came before it is handled', () => events.length === 1);
      expect(events.map(({ id }) => id)).toEqual(['1']);
      expect(log.has('lost the dump of the binlog')).toBe(false);
    },
  );
});
