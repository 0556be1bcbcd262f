import { writeFileSync } from 'node:fs';
import type { DiagnosisRequest, Finding } from '@strandline/core';
import { redisOffsets } from '@strandline/offsets-redis';
import { startPostgres, startRedis } from '@strandline/servers';
import {
  PostgresTestOutbox,
  TestLog,
  testOutbox,
  testRedisCluster,
  waitUntil,
  type TestOutbox,
} from '@strandline/test-kit';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { definePipeline, memoryOffsets } from 'strandline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CommandFolder, CONFIG, type Answered } from './strandline-command.js';

const DAY = 86_400;

function results(findings: readonly Finding[]): Record<string, Finding['result']> {
  return Object.fromEntries(findings.map(({ check, result }) => [check, result]));
}

function found(findings: readonly Finding[], check: string): Finding {
  const finding = findings.find((one) => one.check === check);
  if (finding === undefined) throw new Error(`nothing was found of ${check}`);
  // What is to be changed comes with the way to change it, and with nothing else.
  expect(finding.remedy === null).toBe(finding.result === 'pass');
  return finding;
}

async function diagnosisOf(
  outbox: TestOutbox,
  request: Partial<DiagnosisRequest> = {},
): Promise<readonly Finding[]> {
  const { signal } = new AbortController();
  const asked = { pipeline: 'orders', signal, log: new TestLog(), offset: null, lag: null, ...request };
  return (await outbox.source().diagnose?.(asked)) ?? [];
}

describe('Redis', () => {
  let server: Awaited<ReturnType<typeof startRedis>>;
  let admin: Redis;
  beforeAll(async () => {
    server = await startRedis({ exclusive: true });
    admin = new Redis(server.url);
  });
  afterAll(async () => {
    admin.disconnect();
    await server[Symbol.asyncDispose]();
  });

  async function diagnosis(
    settings: Readonly<Record<string, string>> = {},
    url = server.url,
  ): Promise<readonly Finding[]> {
    const asStarted = {
      maxmemory: '0',
      'maxmemory-policy': 'noeviction',
      appendonly: 'yes',
      appendfsync: 'everysec',
      save: '',
      'min-replicas-to-write': '0',
    };
    for (const [name, value] of Object.entries({ ...asStarted, ...settings }))
      await admin.config('SET', name, value);
    await using store = redisOffsets({ url });
    return (await store.diagnose?.()) ?? [];
  }

  test('that keeps what it has said passes', async () => {
    const findings = await diagnosis();
    expect(results(findings)).toEqual(
      Object.fromEntries(
        [
          ...['version', 'role', 'commands', 'replicas', 'latency', 'clock'],
          ...['info', 'eviction', 'persistence', 'memory'],
        ].map((name) => [`redis-${name}`, 'pass']),
      ),
    );
    expect(found(findings, 'redis-persistence').found).toBe('appendonly yes, appendfsync everysec');
  });

  test.each([
    ['redis-eviction', 'fail', { maxmemory: '100mb', 'maxmemory-policy': 'allkeys-lru' }],
    ['redis-eviction', 'warn', { 'maxmemory-policy': 'allkeys-lru' }],
    ['redis-eviction', 'pass', { maxmemory: '100mb', 'maxmemory-policy': 'volatile-lru' }],
    ['redis-persistence', 'fail', { appendonly: 'no' }],
    ['redis-persistence', 'warn', { appendonly: 'no', save: '3600 1' }],
    ['redis-persistence', 'warn', { appendfsync: 'no' }],
    ['redis-memory', 'warn', { maxmemory: '1mb' }],
    ['redis-replicas', 'fail', { 'min-replicas-to-write': '1' }],
  ])('%s: %s with %j', async (check, result, settings) => {
    expect(found(await diagnosis(settings), check).result).toBe(result);
  });

  test('its remedies are commands that make it pass', async () => {
    const findings = await diagnosis({
      maxmemory: '100mb',
      'maxmemory-policy': 'allkeys-lru',
      appendonly: 'no',
    });
    for (const { remedy } of findings) {
      for (const command of remedy?.split(' && ') ?? []) {
        const [program, config, verb, ...args] = command.split(' ');
        expect([program, config]).toEqual(['redis-cli', 'CONFIG']);
        // The server of the test has no file to write it into.
        if (verb === 'SET') await admin.config('SET', args[0] ?? '', args[1] ?? '');
      }
    }
    await using store = redisOffsets({ url: server.url });
    expect(new Set(Object.values(results((await store.diagnose?.()) ?? [])))).toEqual(new Set(['pass']));
  });

  test('of a cluster one of its primaries answers', async () => {
    await using cluster = await testRedisCluster();
    await using store = redisOffsets(cluster.connection);
    const findings = (await store.diagnose?.()) ?? [];
    expect(new Set(Object.values(results(findings)))).toEqual(new Set(['pass']));
  });

  test('what may not be asked is a warning, and not taken for good or bad', async () => {
    const as = (user: string): string =>
      Object.assign(new URL(server.url), { username: user, password: 'secret' }).href;
    await admin.call('ACL', 'SETUSER', 'no-config', 'on', '>secret', '~*', '+@all', '-config');
    await admin.call('ACL', 'SETUSER', 'no-info', 'on', '>secret', '~*', '+@all', '-info');
    expect(found(await diagnosis({ appendonly: 'no' }, as('no-config')), 'redis-persistence')).toMatchObject({
      result: 'warn',
      found: expect.stringContaining('CONFIG is not allowed') as string,
    });
    expect(results(await diagnosis({}, as('no-info')))).toEqual({
      ...{ 'redis-info': 'warn', 'redis-commands': 'pass', 'redis-latency': 'pass', 'redis-clock': 'pass' },
    });
  });

  test('a user who may not do what the store does is told what, and the remedy is a command that makes it pass', async () => {
    const url = Object.assign(new URL(server.url), { username: 'narrow', password: 'secret' }).href;
    const allowed = ['+@read', '+@connection', '+info', '+config', '+time', '+eval', '+hset', '+acl|whoami'];
    await admin.call('ACL', 'SETUSER', 'narrow', 'on', '>secret', '~other:*', ...allowed);
    for (const result of ['warn', 'fail']) {
      const { result: before, remedy } = found(await diagnosis({}, url), 'redis-commands');
      expect(before).toBe(result);
      const [, ...command] = (remedy ?? '').replaceAll("'", '').split(' ');
      await admin.call(...(command as [string, ...string[]]));
    }
    expect(found(await diagnosis({}, url), 'redis-commands').result).toBe('pass');
    await using store = redisOffsets({ url });
    await store.claim('orders', { identity: {}, watermark: '0/1:0' });
    await admin.del('strandline:{orders}:offset');
  });

  test('replicas that commits wait for, and that no commit waits for', async () => {
    const args = [
      ...['--replicaof', server.host, String(server.port)],
      ...['--masterauth', new URL(server.url).password],
    ];
    await using waiting = redisOffsets({ url: server.url, replicas: { count: 1, timeout: 100 } });
    expect(found((await waiting.diagnose?.()) ?? [], 'redis-replicas').result).toBe('fail');
    await using replica = await startRedis({ exclusive: true, args });
    await waitUntil('the replica is there', async () =>
      (await admin.info('replication')).includes('connected_slaves:1'),
    );
    expect(found(await diagnosis(), 'redis-replicas').result).toBe('warn');
    expect(found((await waiting.diagnose?.()) ?? [], 'redis-replicas').result).toBe('pass');
    const role = found(await diagnosis({}, replica.url), 'redis-role');
    expect(role.result).toBe('fail');
    expect(role.remedy).toContain(`${server.host}:${String(server.port)}`);
  });
});

describe('Postgres', () => {
  test('a slot that is not made yet passes, unless the pipeline has run before', async () => {
    await using outbox = await testOutbox('postgres');
    expect(new Set(Object.values(results(await diagnosisOf(outbox))))).toEqual(new Set(['pass']));
    const offset = {
      ...{ identity: {}, watermark: '0/1:0', completed: [], epoch: 1, revision: 1 },
      savedAt: '2026-01-01T00:00:00.000Z',
    };
    expect(found(await diagnosisOf(outbox, { offset }), 'postgres-slot').result).toBe('fail');
  });

  test('a table of dead rows is to be vacuumed, and the remedy is what does it', async () => {
    await using outbox = await testOutbox('postgres');
    const admin = new Client({ connectionString: outbox.url });
    await admin.connect();
    const vacuum = async (): Promise<Finding> => found(await diagnosisOf(outbox), 'postgres-outbox-vacuum');
    await admin.query('alter table outbox set (autovacuum_enabled = off)');
    const off = await vacuum();
    expect(off.found).toContain('autovacuum is off for the table');
    await admin.query(off.remedy ?? '');
    expect((await vacuum()).result).toBe('pass');
    await admin.query('alter table outbox set (autovacuum_vacuum_threshold = 2000000000)');
    await admin.query("insert into outbox (key) select 'k' from generate_series(1, 10001)");
    await admin.query('delete from outbox');
    await admin.query('select pg_stat_force_next_flush()');
    const dead = await vacuum();
    expect(dead).toMatchObject({
      result: 'warn',
      found: expect.stringContaining('10001 dead rows') as string,
    });
    for (const statement of dead.remedy?.split(';') ?? []) await admin.query(statement);
    await admin.query('select pg_stat_force_next_flush()');
    expect((await vacuum()).result).toBe('pass');
    await admin.end();
  });

  test('the slot of a pipeline is told with what it keeps, and fails once the server has given it up', async () => {
    await using server = await startPostgres({
      exclusive: true,
      settings: { max_slot_wal_keep_size: '32MB' },
    });
    await using outbox = await testOutbox('postgres', server.url);
    const pipeline = definePipeline({
      ...{ name: 'orders', source: outbox.source(), offsets: memoryOffsets(), log: new TestLog() },
      handle: () => undefined,
    });
    await pipeline.start();
    await pipeline.stop();
    const before = await diagnosisOf(outbox);
    expect(found(before, 'postgres-slot')).toMatchObject({
      result: 'pass',
      found: expect.stringMatching(/^\S+: wal_status reserved, .* kept, .* until it is in danger$/) as string,
    });
    expect(found(before, 'postgres-slot-limit').result).toBe('warn');

    const admin = new Client({ connectionString: server.url });
    await admin.connect();
    // Each row is on a segment of its own, 16 MB of log further on.
    for (let i = 0; i < 6; i += 1) {
      await outbox.insert([{ key: 'a' }]);
      await admin.query('select pg_switch_wal()');
    }
    await admin.query('checkpoint');
    await admin.end();
    expect(found(await diagnosisOf(outbox), 'postgres-slot')).toMatchObject({
      result: 'fail',
      found: expect.stringContaining('wal_status lost') as string,
    });
  });
});

describe.each(['mysql', 'mariadb'] as const)('%s', (kind) => {
  test('the age at which it deletes its binlog is held against what the pipeline is behind', async () => {
    await using outbox = await testOutbox(kind);
    const of = async (lag: number | null): Promise<Finding> =>
      found(await diagnosisOf(outbox, { lag }), 'mysql-binlog-age');
    expect((await of(null)).result).toBe('pass');
    const behind = await of(1_000 * DAY);
    expect(behind.found).toContain('the pipeline is 1000.0 d behind');
    // MariaDB keeps it for ever unless it is told.
    if (behind.result === 'pass') expect(behind.found).toContain('kept until somebody deletes it');
    else
      expect(behind).toMatchObject({
        result: 'fail',
        remedy: expect.stringContaining('259200000') as string,
      });
    expect((await of(0)).result).toBe('pass');
  });
});

test('strandline doctor tells what to change of store and source, leaves nothing, and ends with 1 when something fails', async () => {
  await using outbox = await PostgresTestOutbox.create();
  await using server = await startRedis({ exclusive: true, args: ['--appendonly', 'no'] });
  const { password } = new URL(server.url);
  await using folder = new CommandFolder();
  const choice = outbox.sourceChoice();
  writeFileSync(
    folder.file(CONFIG),
    `import { definePipeline, postgres, redisOffsets } from 'strandline';
    export default definePipeline({
      name: 'orders',
      source: postgres(${JSON.stringify('postgres' in choice ? choice.postgres : {})}),
      offsets: redisOffsets({ url: ${JSON.stringify(server.url)}, connectTimeout: 1000 }),
      handle() {},
    });`,
  );
  const asks = async (...args: string[]): Promise<Answered> => {
    const answered = await folder.ask(['doctor', ...args]);
    expect(answered.stdout + answered.stderr).not.toContain(password);
    return answered;
  };

  const text = await asks();
  expect(text.stderr).toBe('');
  expect(text.code).toBe(1);
  expect(text.stdout).toContain('orders\n');
  expect(text.stdout).toMatch(/\n {2}source\n(?: {4}pass {2}postgres-.*\n)+ {2}offsets\n {4}fail {2}redis-/);
  expect(text.stdout).toMatch(/ {4}pass {2}redis-eviction +maxmemory-policy noeviction/);
  expect(text.stdout).toMatch(
    / {4}fail {2}redis-persistence .*\n {10}The offset must .*\n {10}redis-cli CONFIG SET appendonly yes/,
  );
  expect(text.stdout).toMatch(/ {4}pass {2}postgres-slot /);
  expect(text.stdout).toMatch(/\n\n1 fail, 0 warn, \d+ pass\n$/);

  const admin = new Redis(server.url);
  await admin.config('SET', 'appendonly', 'yes');
  admin.disconnect();
  const json = await asks('--json');
  expect(json.code, json.stdout).toBe(0);
  const { pipelines } = JSON.parse(json.stdout) as {
    readonly pipelines: readonly { readonly pipeline: string; readonly findings: readonly Finding[] }[];
  };
  expect(pipelines[0]?.pipeline).toBe('orders');
  expect(results(pipelines[0]?.findings ?? [])).toMatchObject({
    'redis-persistence': 'pass',
    'postgres-slot': 'pass',
  });

  await server.kill();
  const away = await asks('--only-problems');
  expect(away.code).toBe(1);
  expect(away.stdout).toMatch(/ {4}fail {2}offsets +the offset store can't be asked: OFFSETS_UNAVAILABLE\n/);
  expect(away.stdout).not.toContain('  pass  ');

  const { rows } = await outbox.db.pool.query<{ left: string }>(
    `select ((select count(*) from pg_publication)
       + (select count(*) from pg_replication_slots where database = current_database()))::text as left`,
  );
  expect(rows).toEqual([{ left: '0' }]);
});
