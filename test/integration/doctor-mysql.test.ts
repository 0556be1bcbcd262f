import type { DiagnosisRequest, Finding } from '@strandline/core';
import { MysqlTestOutbox, TestLog, uniqueName } from '@strandline/test-kit';
import type { RowDataPacket } from 'mysql2';
import { definePipeline, memoryOffsets, mysql } from 'strandline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectExplained } from '../conformance/findings.js';

type Options = Parameters<typeof mysql>[0];

/** An outbox, and a user of its own who may log in and nothing else. */
class Patient implements AsyncDisposable {
  readonly user = uniqueName();

  private constructor(readonly outbox: MysqlTestOutbox) {}

  static async create(kind: 'mysql' | 'mariadb'): Promise<Patient> {
    const patient = new Patient(await MysqlTestOutbox.create(kind));
    await patient.run(`create user '${patient.user}'@'%' identified by 'secret'`);
    return patient;
  }

  /** Statements one by one, and comments between them, as somebody would copy them. */
  async run(script: string): Promise<void> {
    const statements = script
      .replaceAll(/--.*$/gm, '')
      .split(';')
      .map((statement) => statement.trim())
      .filter((statement) => statement !== '');
    for (const statement of statements) await this.outbox.db.pool.query(statement);
  }

  async diagnose(
    more: Partial<Options> = {},
    request: Partial<DiagnosisRequest> = {},
    asUser = true,
  ): Promise<ReadonlyMap<string, Finding>> {
    const choice = this.outbox.sourceChoice();
    const own = 'mysql' in choice ? choice.mysql : undefined;
    const url = new URL(this.outbox.url);
    if (asUser) [url.username, url.password, url.pathname] = [this.user, 'secret', ''];
    const table = { table: `${this.outbox.db.name}.outbox`, id: 'id', key: 'key', payload: 'payload' };
    const source = mysql({ ...own, url: url.href, outbox: table, ...more });
    const { signal } = new AbortController();
    const asked = { pipeline: 'orders', signal, log: new TestLog(), offset: null, lag: null, ...request };
    const findings = (await source.diagnose?.(asked)) ?? [];
    findings.forEach(expectExplained);
    return new Map(findings.map((finding) => [finding.check, finding]));
  }

  /** What fails, or may not be asked, is changed as its remedy says, and is well then. */
  async cure(check: string, more: Partial<Options> = {}): Promise<void> {
    const before = (await this.diagnose(more)).get(check);
    expect(before?.result, `${check}: ${before?.found ?? 'not found'}`).not.toBe('pass');
    await this.run(before?.remedy ?? '');
    const after = (await this.diagnose(more)).get(check);
    expect(after?.result, `${check}: ${after?.found ?? 'not found'}`).toBe('pass');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run(`drop user '${this.user}'@'%'`);
    await this.outbox[Symbol.asyncDispose]();
  }
}

function problems(findings: ReadonlyMap<string, Finding>): Record<string, string> {
  return Object.fromEntries(
    [...findings].flatMap(([check, { result }]) => (result === 'pass' ? [] : [[check, result]])),
  );
}

describe.each(['mysql', 'mariadb'] as const)('%s', (kind) => {
  let patient: Patient;
  let healthy: Record<string, string>;
  beforeAll(async () => {
    patient = await Patient.create(kind);
    healthy = problems(await patient.diagnose({}, {}, false));
  });
  afterAll(async () => {
    await patient[Symbol.asyncDispose]();
  });

  test('a server as it must be passes', () => {
    expect(healthy).toEqual({});
  });

  test('a user without any right is told which, and the remedies are statements that make it pass', async () => {
    const findings = await patient.diagnose();
    expect(problems(findings)).toMatchObject({
      'mysql-table': 'fail',
      'mysql-replication-slave': 'fail',
      'mysql-replication-client': 'fail',
    });
    expect(findings.get('mysql-binlog-format')?.result).toBe('pass');
    // MySQL shows nobody's undecided XA transactions to who may not recover them, MariaDB shows them to everyone.
    expect(findings.get('mysql-undecided-xa')?.result).toBe(kind === 'mysql' ? 'warn' : 'pass');
    await patient.run(`grant select on \`${patient.outbox.db.name}\`.outbox to '${patient.user}'@'%'`);
    for (const check of ['mysql-replication-slave', 'mysql-replication-client']) await patient.cure(check);
    await patient.cure('mysql-lock-tables', { start: 'snapshot' });
    const left = problems(await patient.diagnose());
    for (const check of Object.keys(left)) await patient.cure(check);
    expect(problems(await patient.diagnose({ start: 'snapshot' }))).toEqual({});
  });

  test.each([
    ['mysql-table', 'create table t (id bigint primary key, `key` varchar(20) not null) engine = MyISAM'],
    ['mysql-id', 'create table t (id bigint, `key` varchar(20) not null)'],
  ])('%s of %s', async (check, ddl) => {
    const { name } = patient.outbox.db;
    await patient.run(ddl);
    await patient.run(`grant select on \`${name}\`.t to '${patient.user}'@'%'`);
    const remedied = { outbox: { table: `${name}.t`, id: 'id', key: 'key' } };
    const before = (await patient.diagnose(remedied)).get(check);
    expect(before?.result).not.toBe('pass');
    await patient.run((before?.remedy ?? '').replace(/^Run: /, ''));
    expect((await patient.diagnose(remedied)).get(check)?.result).toBe('pass');
    await patient.run('drop table t');
  });

  test('a pipeline that runs, and what its offset says of another table', async () => {
    const offsets = memoryOffsets();
    const pipeline = definePipeline({
      ...{ name: 'orders', source: patient.outbox.source(), offsets, log: new TestLog() },
      handle: () => undefined,
    });
    await pipeline.start();
    const offset = await offsets.load('orders');
    const outbox = { table: 'outbox', id: 'id', key: 'key' };
    const running = await patient.diagnose({ outbox }, { offset }, false);
    expect(running.get('mysql-owner')?.found).toMatch(/^connection \d+ of \S+ at \S+ holds the lock/);
    expect(problems(running)).toEqual({ 'mysql-start': 'warn' });
    await pipeline.stop();
    if (offset === null) throw new Error('nothing was saved');
    const foreign = { ...offset, identity: { ...offset.identity, table: 'another.outbox' } };
    expect(
      (await patient.diagnose({ outbox }, { offset: foreign }, false)).get('mysql-offset'),
    ).toMatchObject({ result: 'fail', found: expect.stringContaining('MYSQL_OFFSET_FOREIGN') as string });
  });

  test('it leaves nothing behind', async () => {
    const left = async (): Promise<unknown> => {
      const [rows] = await patient.outbox.db.pool.query<RowDataPacket[]>(
        'select (select count(*) from information_schema.tables where table_schema = database()) as tables',
      );
      return rows[0];
    };
    const before = await left();
    await patient.diagnose({ start: 'snapshot' }, {}, false);
    expect(await left()).toEqual(before);
  });
});

describe('RDS', () => {
  test('keeps its binlog by a setting of its own, which is off as it comes', async () => {
    await using patient = await Patient.create('mysql');
    // As the service has it: a table for the settings, and a procedure that changes them.
    await patient.run(`create table mysql.rds_configuration (name varchar(100) primary key, value varchar(100), description varchar(300));
      insert into mysql.rds_configuration values ('binlog retention hours', null, '')`);
    await patient.outbox.db.pool.query(
      `create procedure mysql.rds_set_configuration (in setting varchar(100), in hours int)
       update mysql.rds_configuration set value = hours where name = setting`,
    );
    try {
      await patient.run(`grant select on \`${patient.outbox.db.name}\`.outbox to '${patient.user}'@'%';
        grant execute on procedure mysql.rds_set_configuration to '${patient.user}'@'%'`);
      const unasked = (await patient.diagnose()).get('mysql-binlog-age');
      expect(unasked).toMatchObject({ result: 'warn' });
      await patient.run(unasked?.remedy ?? '');
      const before = (await patient.diagnose()).get('mysql-binlog-age');
      expect(before).toMatchObject({
        result: 'fail',
        remedy: "call mysql.rds_set_configuration('binlog retention hours', 168);",
      });
      await patient.run(before?.remedy ?? '');
      const after = await patient.diagnose();
      expect(after.get('mysql-binlog-age')).toMatchObject({
        result: 'pass',
        found: 'the binlog is kept for 7.0 d',
      });
      expect(after.get('mysql-version')?.found).toContain('(rds)');
    } finally {
      await patient.run('drop procedure mysql.rds_set_configuration; drop table mysql.rds_configuration');
    }
  });
});
