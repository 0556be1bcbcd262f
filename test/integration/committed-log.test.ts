import { startMariadb, startMysql, startPostgres } from '@strandline/servers';
import {
  databaseKinds,
  MysqlTestOutbox,
  rowsInTurn,
  rowsOf,
  testOutbox,
  waitUntil,
  type CommittedLog,
  type DatabaseKind,
  type OutboxSession,
  type TestOutbox,
} from '@strandline/test-kit';
import type { RowDataPacket } from 'mysql2/promise';
import { describe, expect, test } from 'vitest';

const startServer = { postgres: startPostgres, mysql: startMysql, mariadb: startMariadb } as const;

const newLogFile: Record<DatabaseKind, string> = {
  postgres: 'SELECT pg_switch_wal()',
  mysql: 'FLUSH BINARY LOGS',
  mariadb: 'FLUSH BINARY LOGS',
};

async function inTransaction(
  outbox: TestOutbox,
  work: (session: OutboxSession) => Promise<void>,
): Promise<void> {
  await using session = await outbox.session();
  await session.begin();
  await work(session);
  await session.commit();
}

/** The ids of each transaction. Its rows are neighbours, and no other transaction has its name. */
async function transactionsOf(log: CommittedLog): Promise<string[][]> {
  const transactions = new Map<string, string[]>();
  let last = '';
  for (const { id, transaction } of await log.rows()) {
    const ids = transactions.get(transaction) ?? [];
    if (ids.length > 0 && transaction !== last) throw new Error(`${transaction} lies in several places`);
    ids.push(id);
    transactions.set(transaction, ids);
    last = transaction;
  }
  return [...transactions.values()];
}

describe.each(databaseKinds)('%s: the log of the database itself', (kind) => {
  test('has what committed, in commit order, with its transactions, and so has the witness', async () => {
    await using outbox = await testOutbox(kind);
    const [log, witness] = [await outbox.committedLog(), await outbox.witness()];
    const expected: string[][] = [];

    await using late = await outbox.session();
    await late.begin();
    const lateIds = await late.insert(rowsOf('a', 'b'));
    expected.push(await outbox.insert(rowsOf('a', 'b', 'a')));
    await inTransaction(outbox, async (session) => {
      expected.push([...(await session.insert(rowsOf('a'))), ...(await session.insert(rowsInTurn(3, 2)))]);
    });
    await late.commit();
    expected.push(lateIds);

    await using other = await outbox.session();
    await other.begin();
    await other.insert(rowsOf('a'));
    await other.rollback();
    await inTransaction(outbox, async (session) => {
      const kept = await session.insert(rowsOf('a'));
      await session.run('SAVEPOINT one');
      await session.insert(rowsOf('a', 'b'));
      await session.run('SAVEPOINT two');
      await session.insert(rowsOf('c'));
      await session.run('ROLLBACK TO SAVEPOINT one');
      kept.push(...(await session.insert(rowsOf('d'))));
      expected.push(kept);
    });
    expect(await transactionsOf(log)).toEqual(expected);

    await other.run('ALTER TABLE outbox ADD COLUMN extra int');
    expected.push(await outbox.insert(rowsOf('a')));
    await other.run(newLogFile[kind]);
    expect(await transactionsOf(log)).toEqual(expected);
    await other.run('ALTER TABLE outbox DROP COLUMN extra');
    await other.run('CREATE TABLE outbox_two (id bigint PRIMARY KEY)');
    await other.run('INSERT INTO outbox_two VALUES (1)');
    await other.run('DELETE FROM outbox_two');
    expected.push(await outbox.insert(rowsOf('a')));
    await inTransaction(outbox, async (session) => {
      const ids: string[] = [];
      for (let n = 0; n < 20; n += 1) ids.push(...(await session.insert(rowsInTurn(1_000, 30))));
      expected.push(ids);
    });

    expect(await transactionsOf(log)).toEqual(expected);
    const ofWitness = await witness.events();
    expect((await log.rows()).map(({ id, key }) => ({ id, key }))).toEqual(
      ofWitness.map(({ id, key }) => ({ id, key })),
    );
  });

  test('has keys and payloads of any kind', async () => {
    await using outbox = await testOutbox(kind);
    const log = await outbox.committedLog();
    const keys = [
      "it's",
      '"quoted"',
      'back\\slash \\n \\\\',
      'two\nlines\r\n\tand\u2028more',
      'é 😀',
      "' payload[text]:null key[text]:'",
      '### INSERT INTO `a`.`b`',
      '',
      'null',
    ];
    const payload = `${'x'.repeat(1_000_000)}'\n# at 4\n''\\`;
    const ids = await outbox.insert([
      ...keys.map((key) => ({ key })),
      ...keys.map((key) => ({ key, payload: key })),
      { key: 'big', payload },
    ]);
    const rows = await log.rows();
    expect(rows.map(({ key }) => key)).toEqual([...keys, ...keys, 'big']);
    expect(rows.map(({ id }) => id)).toEqual(ids);
  });

  test('can be read at once, often, and while much is written; changes of rows are no events', async () => {
    await using outbox = await testOutbox(kind);
    const [log, witness] = [await outbox.committedLog(), await outbox.witness()];
    await using session = await outbox.session();
    await using writers = outbox.writers({ linger: 10, rollbacks: 0.3 });
    await waitUntil('much was written', async () => {
      await Promise.all([log.rows(), log.rows()]);
      await session.run('UPDATE outbox SET payload = NULL WHERE id % 3 = 0');
      return writers.committed >= 400;
    });
    await writers.stop();
    // The witness of MySQL looks into the table.
    const committed = (await witness.events()).map(({ id, key }) => ({ id, key }));
    await session.run('DELETE FROM outbox');
    expect((await log.rows()).map(({ id, key }) => ({ id, key }))).toEqual(committed);
  });

  test('is read on after the server was killed, and nothing of it twice', async () => {
    await using server = await startServer[kind]({ exclusive: true });
    await using outbox = await testOutbox(kind, server.url);
    const log = await outbox.committedLog();
    const ids = await outbox.insert(rowsOf('a', 'b'));
    expect((await log.rows()).map(({ id }) => id)).toEqual(ids);
    ids.push(...(await outbox.insert(rowsOf('a', 'b'))));
    expect((await log.rows()).map(({ id }) => id)).toEqual(ids);
    await server.kill();
    await expect(log.rows()).rejects.toThrow();
    await server.start();
    await waitUntil('it takes connections', () => outbox.has('1').catch(() => false));
    expect((await log.rows()).map(({ id }) => id)).toEqual(ids);
    ids.push(...(await outbox.insert(rowsOf('a', 'b'))));
    expect((await log.rows()).map(({ id }) => id)).toEqual(ids);
  });
});

describe.each(['mysql', 'mariadb'] as const)('%s: the binlog', (kind) => {
  test('can be purged behind what was read, and not before', async () => {
    await using server = await startServer[kind]({ exclusive: true });
    await using outbox = await MysqlTestOutbox.create(kind, server.url);
    const log = await outbox.committedLog();
    const sql = (text: string): Promise<unknown> => outbox.db.pool.query(text);
    // MariaDB keeps a file for as long as recovery might need it, and says nothing when it does.
    const purgeTo = (file: string): Promise<unknown> =>
      waitUntil(`${file} is the oldest`, async () => {
        await sql(`PURGE BINARY LOGS TO '${file}'`);
        const [files] = await outbox.db.pool.query<RowDataPacket[]>('SHOW BINARY LOGS');
        return files[0]?.['Log_name'] === file;
      });
    const ids: string[] = [];
    for (let file = 2; file <= 4; file += 1) {
      ids.push(...(await outbox.insert(rowsOf('a', 'b'))));
      await sql('FLUSH BINARY LOGS');
      ids.push(...(await outbox.insert(rowsOf('a'))));
      expect((await log.rows()).map(({ id }) => id)).toEqual(ids);
      await purgeTo(`binlog.00000${String(file)}`);
    }
    await sql('FLUSH BINARY LOGS');
    await purgeTo('binlog.000005');
    await expect(log.rows()).rejects.toThrow(
      'binlog.000004 was purged, and the oldest file is binlog.000005. Call rows() before a file is purged.',
    );
  });

  test('has XA transactions where they are decided, in another file if need be', async () => {
    await using outbox = await MysqlTestOutbox.create(kind);
    const log = await outbox.committedLog();
    await using session = await outbox.session();
    const xa = async (name: string, ...then: string[]): Promise<string[]> => {
      await session.run(`XA START '${outbox.db.name}', '${name}'`);
      const ids = await session.insert(rowsOf(name));
      await session.run(`XA END '${outbox.db.name}', '${name}'`);
      for (const verb of then) await session.run(verb.replace('?', `'${outbox.db.name}', '${name}'`));
      return ids;
    };
    const expected: string[] = [];
    expected.push(...(await xa('at once', 'XA COMMIT ? ONE PHASE')));
    await xa('undone', 'XA PREPARE ?', 'XA ROLLBACK ?');
    const prepared = await xa('prepared', 'XA PREPARE ?');
    try {
      expected.push(...(await outbox.insert(rowsOf('between'))));
      expect((await log.rows()).map(({ id }) => id)).toEqual(expected);
      await outbox.db.pool.query('FLUSH BINARY LOGS');
      expected.push(...(await outbox.insert(rowsOf('in the next file'))));
      expect((await log.rows()).map(({ id }) => id)).toEqual(expected);
    } finally {
      // Undecided it would lock the table for ever.
      await session.run(`XA COMMIT '${outbox.db.name}', 'prepared'`);
    }
    expected.push(...prepared);
    const rows = await log.rows();
    expect(rows.map(({ id }) => id)).toEqual(expected);
    expect(rows.map(({ key }) => key)).toEqual(['at once', 'between', 'in the next file', 'prepared']);
    expect(new Set(rows.map(({ transaction }) => transaction)).size).toBe(4);
  });

  test('has compressed rows, wherever the columns are, and statements that can’t be undone', async () => {
    await using outbox = await MysqlTestOutbox.create(kind);
    const log = await outbox.committedLog();
    const sql = (text: string): Promise<unknown> => outbox.db.pool.query(text);
    await sql(
      'ALTER TABLE outbox ADD COLUMN in_front varchar(20) FIRST, MODIFY COLUMN id bigint AUTO_INCREMENT AFTER token',
    );
    await sql('CREATE TABLE at_once (n int) ENGINE = MyISAM');
    const expected: string[] = [];
    {
      await using session = await outbox.session();
      if (kind === 'mysql') await session.run('SET SESSION binlog_transaction_compression = ON');
      else await session.run('SET GLOBAL log_bin_compress = ON');
      try {
        expected.push(...(await session.insert([{ key: 'small', payload: 'x'.repeat(5_000) }])));
        expect((await log.rows()).map(({ key }) => key)).toEqual(['small']);
      } finally {
        if (kind === 'mysql') await session.run('SET SESSION binlog_transaction_compression = OFF');
        else await session.run('SET GLOBAL log_bin_compress = OFF');
      }
      await session.begin();
      expected.push(...(await session.insert(rowsOf('kept'))));
      await session.run('SAVEPOINT here');
      await session.insert(rowsOf('undone'));
      // MySQL with GTIDs refuses it inside a transaction; MariaDB keeps what was undone in its log for its sake.
      if (kind === 'mariadb') await session.run('INSERT INTO at_once VALUES (1)');
      await session.run('ROLLBACK TO SAVEPOINT here');
      expected.push(...(await session.insert(rowsOf('behind'))));
      await session.commit();
      await session.run('INSERT INTO at_once VALUES (2)');
    }
    const rows = await log.rows();
    expect(rows.map(({ key }) => key)).toEqual(['small', 'kept', 'behind']);
    expect(rows.map(({ id }) => id)).toEqual(expected);
  });
});
