import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  mariadbUrlVariable,
  mysqlServersOfRun,
  mysqlUrlVariable,
  prepareMysqlServersOfRun,
  startMysqlServer,
  startReplica,
  type MysqlServerName,
} from '../src/index.js';
import { waysVariable } from '../src/origins/choose.js';

const withoutDocker: readonly MysqlServerName[] = ['mysql', 'mariadb', 'mariadb:10.11'];
const withDocker: readonly MysqlServerName[] = [
  ...(['mysql', 'mysql:8.4', 'mysql:8.0'] as const),
  ...(['mariadb', 'mariadb:10.11'] as const),
];
const images = ['mysql:9', 'mysql:8.4', 'mysql:8.0', 'mariadb:11.8', 'mariadb:10.11'];

beforeEach(() => {
  for (const variable of [mysqlUrlVariable, mariadbUrlVariable, waysVariable]) vi.stubEnv(variable, '');
});
afterEach(() => void vi.unstubAllEnvs());

describe('the MySQL and MariaDB servers of a run', () => {
  test('are without Docker what Debian has', async () => {
    vi.stubEnv(waysVariable, 'local');
    expect(await mysqlServersOfRun()).toEqual(withoutDocker);
  });

  test('are of a kind that the environment names that one alone', async () => {
    vi.stubEnv(waysVariable, 'environment,local');
    vi.stubEnv(mysqlUrlVariable, 'mysql://root@127.0.0.1:1');
    expect(await mysqlServersOfRun()).toEqual(withoutDocker);
    vi.stubEnv(mariadbUrlVariable, 'mysql://root@127.0.0.1:1');
    expect(await mysqlServersOfRun()).toEqual(['mysql', 'mariadb']);
  });

  test.each([
    { name: 'mysql', version: /^9\./ },
    { name: 'mariadb', version: /^11\.8\..*MariaDB/ },
    { name: 'mariadb:10.11', version: /^10\.11\..*MariaDB/ },
  ] as const)(
    '$name is started by its name, and so is its replica',
    async ({ name, version }) => {
      vi.stubEnv(waysVariable, 'local');
      await using server = await startMysqlServer(name);
      expect(server.version).toMatch(version);
      await using replica = await startReplica(server);
      expect(replica.version).toBe(server.version);
    },
    120_000,
  );

  test('a version that can’t be had says what would have it', async () => {
    vi.stubEnv(waysVariable, 'local');
    await expect(startMysqlServer('mysql:8.0')).rejects.toMatchObject({
      code: 'SERVER_UNAVAILABLE',
      message: expect.stringMatching(
        /^No MySQL 8\.0 to be had:.*no suite of Debian that is known/s,
      ) as string,
      remedy: expect.stringMatching(/^Start Docker/) as string,
    });
  });
});

/** Has the images that it is asked for, and refuses to make containers of them. */
class EngineStandIn {
  readonly asked: string[] = [];
  readonly created: { image: string; command: readonly string[]; environment: readonly string[] }[] = [];
  readonly http: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = (request.url ?? '').replace(/^\/v[\d.]+/, '');
      const image = /^\/images\/(.+)\/json/.exec(path)?.[1];
      response.setHeader('content-type', 'application/json');
      if (path.startsWith('/_ping')) {
        response.end('OK');
      } else if (image !== undefined) {
        this.asked.push(decodeURIComponent(image));
        response.end(JSON.stringify({ Id: image, RepoTags: [image] }));
      } else if (path.startsWith('/containers/create')) {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<'Image', string> &
          Record<'Cmd' | 'Env', string[]>;
        this.created.push({ image: body.Image, command: body.Cmd, environment: body.Env });
        response.writeHead(500).end(JSON.stringify({ message: 'no containers here' }));
      } else {
        response.end(path.startsWith('/containers/json') ? '[]' : '{}');
      }
    });
  });

  get address(): string {
    return `tcp://127.0.0.1:${String((this.http.address() as AddressInfo).port)}`;
  }
}

describe('with a Docker engine, they', () => {
  const engine = new EngineStandIn();
  beforeAll(() => new Promise<void>((resolve) => void engine.http.listen(0, '127.0.0.1', resolve)));
  afterAll(() => {
    engine.http.closeAllConnections();
    engine.http.close();
  });
  beforeEach(() => {
    vi.stubEnv('DOCKER_HOST', engine.address);
    vi.stubEnv('TESTCONTAINERS_RYUK_DISABLED', 'true');
  });

  test('are every version that is tested', async () => {
    expect(await mysqlServersOfRun()).toEqual(withDocker);
    vi.stubEnv(waysVariable, 'local');
    expect(await mysqlServersOfRun()).toEqual(withoutDocker);
  });

  test('are images, one of each version, looked up before the tests', async () => {
    vi.stubEnv(waysVariable, 'docker');
    await prepareMysqlServersOfRun();
    expect(engine.asked.toSorted()).toEqual(images.toSorted());
  });

  test('are started as containers of these images, with the settings of every server', async () => {
    vi.stubEnv(waysVariable, 'docker');
    for (const name of withDocker)
      await expect(startMysqlServer(name)).rejects.toThrow(/docker: .*no containers here/);
    await expect(startMysqlServer('mysql:8.0.36')).rejects.toThrow(/No MySQL 8\.0\.36 to be had/);
    expect(engine.created.map(({ image }) => image)).toEqual([...images, 'mysql:8.0.36']);
    for (const { image, command, environment } of engine.created) {
      expect(command).toContain('--binlog-row-metadata=FULL');
      expect(command).toContain(image.startsWith('mysql') ? '--gtid-mode=ON' : '--binlog-format=ROW');
      const password = image.startsWith('mysql') ? /^MYSQL_ROOT_PASSWORD=./ : /^MARIADB_ROOT_PASSWORD=./;
      expect(environment).toContainEqual(expect.stringMatching(password));
    }
  });
});
