import { afterEach, describe, expect, test, vi } from 'vitest';
import { mariadbUrlVariable, mysqlUrlVariable, startMariadb, startMysql } from '../src/index.js';

afterEach(() => void vi.unstubAllEnvs());

describe('a MySQL or MariaDB from the environment', () => {
  test('is used as it is, and neither stopped nor killed', async () => {
    await using real = await startMariadb({ exclusive: true });
    vi.stubEnv(mariadbUrlVariable, real.url);
    await using given = await startMariadb();
    expect(given).toMatchObject({ origin: 'environment', url: real.url, version: real.version });
    await given.createDatabase('made_through_it');
    await given.dropDatabase('made_through_it');
    for (const act of [given.kill(), given.stop(), given.restart(), given.pause()]) {
      await expect(act).rejects.toMatchObject({ code: 'SERVER_NOT_OURS' });
    }
    await given[Symbol.asyncDispose]();
    await real.createDatabase('it_still_answers');
  }, 120_000);

  test('must be of its kind, and write whole rows with their names to the binlog', async () => {
    await using server = await startMariadb({ settings: { 'binlog-row-metadata': 'NO_LOG' } });
    vi.stubEnv(mysqlUrlVariable, server.url);
    vi.stubEnv(mariadbUrlVariable, server.url);
    await expect(startMysql()).rejects.toThrow(/it is a MariaDB/);
    await expect(startMariadb()).rejects.toThrow(/its binlog_row_metadata is NO_LOG, not FULL/);
  }, 120_000);
});
