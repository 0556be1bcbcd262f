import type { DiagnosisRequest, Finding } from '@strandline/core';
import { startPgBouncer, startPostgres, type PostgresServer } from '@strandline/servers';
import { PostgresTestOutbox, TestLog, uniqueName } from '@strandline/test-kit';
import pg from 'pg';
import { definePipeline, memoryOffsets, postgres } from 'strandline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectExplained } from '../conformance/findings.js';

type Options = Parameters<typeof postgres>[0];
/** An option that is undefined takes one of the outbox away. */
type Changes = { readonly [Name in keyof Options]?: Options[Name] | undefined };

/** An outbox, and a role of its own that may log in and nothing else. */
class Patient implements AsyncDisposable {
  readonly role = uniqueName();
  readonly #admin: pg.Client;

  private constructor(
    readonly outbox: PostgresTestOutbox,
    admin: pg.Client,
  ) {
    this.#admin = admin;
  }

  static async create(serverUrl?: string): Promise<Patient> {
    const outbox = await PostgresTestOutbox.create(serverUrl);
    const admin = new pg.Client({ connectionString: outbox.url });
    await admin.connect();
    const patient = new Patient(outbox, admin);
    await patient.run(`create role ${patient.role} login password 'secret'`);
    return patient;
  }

  async run(sql: string): Promise<void> {
    await this.#admin.query(sql);
  }

  /** @param more over the options of the outbox; `asRole` logs in as the role */
  async diagnose(
    more: Changes = {},
    request: Partial<DiagnosisRequest> = {},
    asRole = true,
  ): Promise<ReadonlyMap<string, Finding>> {
    const choice = this.outbox.sourceChoice();
    const own = 'postgres' in choice ? choice.postgres : undefined;
    const url = new URL(this.outbox.url);
    if (asRole) [url.username, url.password] = [this.role, 'secret'];
    const source = postgres({ ...own, url: url.href, ...more } as Options);
    const { signal } = new AbortController();
    const asked = { pipeline: 'orders', signal, log: new TestLog(), offset: null, lag: null, ...request };
    const findings = (await source.diagnose?.(asked)) ?? [];
    findings.forEach(expectExplained);
    return new Map(findings.map((finding) => [finding.check, finding]));
  }

  /** What fails, or may not be asked, is changed as its remedy says, and is well then. */
  async cure(check: string, more: Changes = {}): Promise<void> {
    const before = (await this.diagnose(more)).get(check);
    expect(before?.result, `${check}: ${before?.found ?? 'not found'}`).not.toBe('pass');
    await this.run(before?.remedy ?? '');
    const after = (await this.diagnose(more)).get(check);
    expect(after?.result, `${check}: ${after?.found ?? 'not found'}`).toBe('pass');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#admin.query(`drop owned by ${this.role}`);
    await this.#admin.query(`drop role ${this.role}`);
    await this.#admin.end();
    await this.outbox[Symbol.asyncDispose]();
  }
}

/** What is to be done; but for transactions of other tests, which the server has, too. */
function problems(findings: ReadonlyMap<string, Finding>): Record<string, string> {
  return Object.fromEntries(
    [...findings].flatMap(([check, { result }]) =>
      result === 'pass' || check === 'postgres-open-transactions' ? [] : [[check, result]],
    ),
  );
}

describe('the remedies are statements that make it pass', () => {
  let patient: Patient;
  beforeAll(async () => {
    patient = await Patient.create();
  });
  afterAll(async () => {
    await patient[Symbol.asyncDispose]();
  });

  test('a role without any right is told which, and is told the rest all the same', async () => {
    const findings = await patient.diagnose({ start: 'snapshot' });
    expect(problems(findings)).toMatchObject({
      'postgres-replication': 'fail',
      'postgres-select': 'fail',
      'postgres-publication': 'fail',
    });
    expect(findings.get('postgres-wal-level')?.result).toBe('pass');
    expect(findings.get('postgres-slot')?.result).toBe('pass');
  });

  test('the right to replicate, to read and to publish', async () => {
    await patient.cure('postgres-replication');
    await patient.cure('postgres-select', { start: 'snapshot' });
    await patient.cure('postgres-publication');
    expect(problems(await patient.diagnose({ start: 'snapshot' }))).toEqual({});
  });

  test('what may not be asked is a warning with the grant, and the rest is told', async () => {
    await patient.run('revoke select on pg_catalog.pg_replication_slots from public');
    const findings = await patient.diagnose();
    expect(findings.get('postgres-slot')).toMatchObject({
      result: 'warn',
      remedy: `grant select on pg_replication_slots to "${patient.role}";`,
    });
    expect(findings.get('postgres-publication')?.result).toBe('pass');
    await patient.cure('postgres-slot');
    await patient.run('grant select on pg_catalog.pg_replication_slots to public');
  });

  test.each([
    ['postgres-publication-inserts', `for table outbox with (publish = 'delete')`],
    ['postgres-publication-table', ''],
    ['postgres-publication-rows', `for table outbox where (id > 5) with (publish = 'insert')`],
    ['postgres-publication-columns', `for table outbox (id, key) with (publish = 'insert')`],
  ])('%s of a publication %s', async (check, how) => {
    const name = `${patient.role}_p`;
    await patient.run(`create publication ${name} ${how}`);
    await patient.cure(check, { publication: name });
    expect(problems(await patient.diagnose({ publication: name }))).toEqual({});
    await patient.run(`drop publication ${name}`);
  });

  test('partitions, and a table that others can not clean up', async () => {
    const outbox = { table: 'parts', id: 'id', key: 'key' };
    await patient.run(`create table parts (id bigint, key text, day int) partition by range (day);
      create table parts_1 partition of parts for values from (0) to (10);
      create publication parts for table parts with (publish = 'insert')`);
    const more = { outbox, publication: 'parts' };
    await patient.cure('postgres-publication-table', more);
    await patient.cure('postgres-key', more);
    await patient.run(
      `create publication everything for all tables with (publish = 'insert, update, delete')`,
    );
    await expect(patient.run('insert into parts values (1, $$a$$, 1); delete from parts')).rejects.toThrow(
      'replica identity',
    );
    await patient.cure('postgres-replica-identity', more);
    await patient.run('insert into parts values (1, $$a$$, 1); delete from parts');
    await patient.run('drop publication everything; drop publication parts; drop table parts');
  });

  test.each([
    ['postgres-table', 'create unlogged table t (id bigint primary key, key text not null)'],
    ['postgres-id', 'create table t (id bigint, key text not null)'],
    ['postgres-key', 'create table t (id bigint primary key, key text)'],
    [
      'postgres-columns',
      `create table t (id bigint primary key, key text generated always as ('a') stored not null)`,
    ],
    ['postgres-headers', 'create table t (id bigint primary key, key text not null, meta int[])'],
  ])('%s of %s', async (check, ddl) => {
    await patient.run(ddl);
    const headers = check === 'postgres-headers' ? { headers: 'meta' } : {};
    await patient.cure(check, { outbox: { table: 't', id: 'id', key: 'key', ...headers } });
    await patient.run('drop table t');
  });

  test('time limits of the role are set off by the sessions; those of the connection are told', async () => {
    await patient.run(`alter role ${patient.role} set statement_timeout = 1000`);
    expect((await patient.diagnose()).get('postgres-session-limits')?.result).toBe('pass');
    const url = new URL(patient.outbox.url);
    const connection = {
      ...{ host: url.hostname, port: Number(url.port), database: url.pathname.slice(1) },
      ...{ user: patient.role, password: 'secret', options: '-c wal_sender_timeout=5000' },
    };
    const findings = await patient.diagnose({ url: undefined, connection });
    expect(findings.get('postgres-wal-sender-timeout')?.result).toBe('warn');
  });
});

describe('the slot', () => {
  test('that runs, one of a stranger, one of another kind, and an offset that it does not reach', async () => {
    await using patient = await Patient.create();
    const { outbox } = patient;
    const offsets = memoryOffsets();
    const pipeline = definePipeline({
      ...{ name: 'orders', source: outbox.source(), offsets, log: new TestLog() },
      handle: () => undefined,
    });
    await pipeline.start();
    const diagnose = async (request: Partial<DiagnosisRequest> = {}): Promise<ReadonlyMap<string, Finding>> =>
      patient.diagnose({}, request, false);
    const running = await diagnose({ offset: await offsets.load('orders') });
    expect(problems(running)).toEqual({});
    expect(running.get('postgres-slot-reader')?.found).toContain(
      'this pipeline reads it: strandline/orders/',
    );
    expect(running.get('postgres-offset')?.result).toBe('pass');
    const saved = await offsets.load('orders');
    await pipeline.stop();
    if (saved === null) throw new Error('nothing was saved');

    const other = { ...saved, identity: { ...saved.identity, database: 'another' } };
    expect((await diagnose({ offset: other })).get('postgres-offset')?.result).toBe('fail');
    const behind = await diagnose({ offset: { ...saved, watermark: '0/1:0' } });
    expect(behind.get('postgres-offset')).toMatchObject({
      result: 'fail',
      found: expect.stringContaining('past it') as string,
    });

    const slot = outbox.db.slot();
    const stranger = new pg.Client({
      connectionString: outbox.url,
      application_name: 'stranger',
      replication: 'database',
    } as pg.ClientConfig);
    stranger.on('error', () => undefined);
    await stranger.connect();
    stranger
      .query(
        `START_REPLICATION SLOT "${slot}" LOGICAL 0/0 (proto_version '1', publication_names '${outbox.db.publication()}')`,
      )
      .catch(() => undefined);
    await outbox.db.waitFor(
      'the stranger reads',
      'select active from pg_replication_slots where slot_name = $1',
      [slot],
    );
    expect((await diagnose()).get('postgres-slot-reader')).toMatchObject({
      result: 'fail',
      found: expect.stringContaining('stranger (pid ') as string,
    });
    (stranger as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    await outbox.db.waitFor(
      'the stranger is gone',
      'select not active from pg_replication_slots where slot_name = $1',
      [slot],
    );

    await patient.run(`select pg_drop_replication_slot('${slot}');
      select pg_create_logical_replication_slot('${slot}', 'pgoutput', false, true)`);
    const twoPhase = (await diagnose()).get('postgres-slot-kind');
    expect(twoPhase).toMatchObject({
      result: 'fail',
      found: expect.stringContaining('two_phase') as string,
    });
    expect(twoPhase?.remedy).toContain(`select pg_drop_replication_slot('${slot}');`);
  });
});

test('it leaves nothing behind', async () => {
  await using patient = await Patient.create();
  const { pool } = patient.outbox.db;
  const left = async (): Promise<unknown> => {
    const { rows } = await pool.query(
      `select (select count(*) from pg_publication) as publications, (select count(*) from pg_class) as tables,
              (select count(*) from pg_replication_slots where database = current_database()) as slots,
              (select count(*) from pg_locks where locktype = 'advisory'
                 and database = (select oid from pg_database where datname = current_database())) as locks`,
    );
    return rows[0];
  };
  const before = await left();
  await patient.diagnose({ start: 'snapshot' }, {}, false);
  expect(await left()).toEqual(before);
});

describe('with the defaults of', () => {
  let server: PostgresServer;
  let patient: Patient;
  beforeAll(async () => {
    // As they come: no logical log.
    server = await startPostgres({
      exclusive: true,
      settings: { wal_level: 'replica', max_replication_slots: '0', max_wal_senders: '1' },
    });
    patient = await Patient.create(server.url);
  });
  afterAll(async () => {
    await patient[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** What a service has, made and taken away again; and the words of its own way to a logical log and the right to read it. */
  const SERVICES: readonly (readonly [string, readonly [string, string][], RegExp, RegExp])[] = [
    [
      'a server of one’s own',
      [],
      /^alter system set wal_level = 'logical'/,
      /^alter role .* with replication;$/,
    ],
    [
      'RDS',
      [
        ['create role rdsadmin', 'drop role rdsadmin'],
        ['create role rds_replication', 'drop role rds_replication'],
      ],
      /rds\.logical_replication = 1 in the DB parameter group/,
      /^grant rds_replication to .*;$/,
    ],
    [
      'Aurora',
      [
        ['create role rdsadmin', 'drop role rdsadmin'],
        ['create role rds_replication', 'drop role rds_replication'],
        [
          `create function aurora_version() returns text language sql as $$ select '16.4' $$`,
          'drop function aurora_version()',
        ],
      ],
      /DB cluster parameter group.*reboot the writer/,
      /^grant rds_replication to .*;$/,
    ],
    [
      'Cloud SQL',
      [['create role cloudsqlsuperuser', 'drop role cloudsqlsuperuser']],
      /cloudsql\.logical_decoding=on/,
      /^alter role .* with replication; -- as a member of cloudsqlsuperuser$/,
    ],
    [
      'Azure',
      [['create role azure_pg_admin', 'drop role azure_pg_admin']],
      /az postgres flexible-server parameter set .*--name wal_level --value logical/,
      /^alter role .* with replication; -- as the administrator/,
    ],
    [
      'Supabase',
      [['create role supabase_admin', 'drop role supabase_admin']],
      /supabase .*postgres-config/,
      /^alter role .* with replication;$/,
    ],
    [
      'Neon',
      [['create role neon_superuser', 'drop role neon_superuser']],
      /settings of the Neon project/,
      /Neon console/,
    ],
  ];

  test.each(SERVICES)('%s', async (_, marks, log, right) => {
    for (const [make] of marks) await patient.run(make);
    try {
      const findings = await patient.diagnose();
      expect(findings.get('postgres-wal-level')).toMatchObject({
        result: 'fail',
        found: 'wal_level replica',
      });
      expect(findings.get('postgres-wal-level')?.remedy).toMatch(log);
      expect(findings.get('postgres-replication')?.result).toBe('fail');
      expect(findings.get('postgres-replication')?.remedy).toMatch(right);
      expect(findings.get('postgres-slots-free')?.result).toBe('fail');
    } finally {
      for (const [, drop] of marks) await patient.run(drop);
    }
  });

  test('a pooler in front of it is told by name', async () => {
    await using pooler = await startPgBouncer({ upstream: server });
    const { signal } = new AbortController();
    const source = postgres({ url: pooler.url, outbox: { table: 'outbox', id: 'id', key: 'key' } });
    const findings = await source.diagnose?.({
      ...{ pipeline: 'orders', signal, log: new TestLog(), offset: null, lag: null },
    });
    expect(findings).toMatchObject([{ check: 'postgres-pooler', result: 'fail' }]);
  });

  test('a service that is known by its settings', async () => {
    const { pathname } = new URL(patient.outbox.url);
    await patient.run(`alter database "${pathname.slice(1)}" set rds.logical_replication = off`);
    expect((await patient.diagnose()).get('postgres-version')?.found).toContain('(rds)');
    await patient.run(`alter database "${pathname.slice(1)}" reset rds.logical_replication`);
  });
});
