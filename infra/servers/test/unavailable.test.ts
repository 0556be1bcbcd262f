import { createServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  mariadbUrlVariable,
  mysqlUrlVariable,
  postgresUrlVariable,
  redisUrlVariable,
  startMariadb,
  startMysql,
  startPostgres,
  startRedis,
} from '../src/index.js';
import { waysVariable } from '../src/origins/choose.js';
import { requireDockerEngine } from '../src/origins/docker-engine.js';

afterEach(() => void vi.unstubAllEnvs());

const nowhere = '127.0.0.1:1';

describe('a server that can’t be had', () => {
  test('is an error with the reason of each way and the remedy', async () => {
    vi.stubEnv(waysVariable, 'docker');
    vi.stubEnv('DOCKER_HOST', `tcp://${nowhere}`);
    const start = startRedis({ exclusive: true });
    await expect(start).rejects.toMatchObject({
      code: 'SERVER_UNAVAILABLE',
      remedy: expect.stringMatching(/^Set /) as string,
    });
    await expect(start).rejects.toThrow(
      /docker: no Docker engine answers at tcp:\/\/127\.0\.0\.1:1 \(.*ECONNREFUSED/,
    );
    await expect(start).rejects.toThrow(/local: left out by STRANDLINE_TEST_SERVERS/);
  });

  test('is not replaced by a way that was not asked for', async () => {
    vi.stubEnv('DOCKER_HOST', `tcp://${nowhere}`);
    await expect(startPostgres({ origin: 'docker' })).rejects.toThrow(/local: left out by the option origin/);
  });

  test('is not replaced by another when the environment names it', async () => {
    vi.stubEnv(postgresUrlVariable, `postgres://postgres:hidden@${nowhere}/postgres`);
    vi.stubEnv(redisUrlVariable, `redis://:hidden@${nowhere}`);
    vi.stubEnv(mysqlUrlVariable, `mysql://root:hidden@${nowhere}`);
    vi.stubEnv(mariadbUrlVariable, `mysql://root:hidden@${nowhere}`);
    for (const start of [startPostgres(), startRedis(), startMysql(), startMariadb()]) {
      const error = (await start.catch((reason: unknown) => reason)) as Error;
      expect(error).toMatchObject({ code: 'SERVER_UNAVAILABLE' });
      expect(error.message).toMatch(
        /STRANDLINE_TEST_(POSTGRES|REDIS|MYSQL|MARIADB)_URL names can't be used: .*ECONNREFUSED/,
      );
      expect(error.message).not.toContain('hidden');
    }
  });

  test('does not show the password of a connection string that can’t be read', async () => {
    vi.stubEnv(postgresUrlVariable, 'postgres:// :hidden@');
    const error = await startPostgres().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'SERVER_UNAVAILABLE' });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('hidden');
  });
});

describe('a server from the environment', () => {
  test('is used as it is, and neither stopped nor killed', async () => {
    await using real = await startPostgres({ exclusive: true });
    vi.stubEnv(postgresUrlVariable, real.url);
    await using given = await startPostgres();
    expect(given).toMatchObject({ origin: 'environment', url: real.url, port: real.port });
    await given.createDatabase('made_through_it');
    await given.dropDatabase('made_through_it');
    for (const act of [given.kill(), given.stop(), given.restart()]) {
      await expect(act).rejects.toMatchObject({ code: 'SERVER_NOT_OURS' });
    }
    await given[Symbol.asyncDispose]();
    await real.createDatabase('it_still_answers');
  }, 30_000);

  test('must decode logically', async () => {
    await using replica = await startPostgres({ settings: { wal_level: 'replica' } });
    vi.stubEnv(postgresUrlVariable, replica.url);
    await expect(startPostgres()).rejects.toThrow(/its wal_level is replica, not logical/);
  }, 30_000);
});

describe('a Docker engine', () => {
  test('is one that answers a ping, and one that does not answer holds nobody up', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'engine-'));
    const socket = path.join(folder, 'engine.sock');
    let isMute = false;
    const engine = createServer((_request, response) => {
      if (!isMute) response.end('OK');
    });
    await new Promise<void>((resolve) => engine.listen(socket, resolve));
    vi.stubEnv('DOCKER_HOST', `unix://${socket}`);
    await requireDockerEngine();
    isMute = true;
    await expect(requireDockerEngine()).rejects.toThrow(/no answer/);
    engine.closeAllConnections();
    engine.close();
    await rm(folder, { recursive: true });
  });
});
