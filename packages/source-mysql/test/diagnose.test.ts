import type { Finding, Offset } from '@strandline/core';
import { findingsOf } from '@strandline/core';
import { describe, expect, it } from 'vitest';
import { parseMysqlOptions, type MysqlOptions } from '../src/config.js';
import type { MysqlFacts } from '../src/diagnose/facts.js';
import { Grants } from '../src/diagnose/grants.js';
import { MYSQL_CHECKS } from '../src/diagnose/index.js';
import { serviceOf } from '../src/diagnose/service.js';

const DAY = 86_400;

interface Changes {
  readonly facts?: Partial<MysqlFacts>;
  readonly variables?: Readonly<Record<string, string>>;
  readonly options?: Partial<MysqlOptions>;
}

/** A server, table and user as they must be, but for what is given. */
function facts({ facts = {}, variables = {}, options = {} }: Changes): MysqlFacts {
  const now = Date.now();
  return {
    config: parseMysqlOptions({
      ...{ url: 'mysql://app@db:3306/shop', start: 'now', outbox: { table: 'outbox', id: 'id', key: 'k' } },
      ...options,
    }),
    ...{ offset: null, lag: 0, service: null },
    server: {
      ...{ flavour: /mariadb/i.test(variables['version'] ?? '') ? 'mariadb' : 'mysql', host: 'db' },
      user: "'app'@'%'",
      variables: new Map(
        Object.entries({
          ...{ version: '8.4.0', server_id: '1', log_bin: 'ON', binlog_format: 'ROW', gtid_mode: 'ON' },
          ...{ binlog_row_image: 'FULL', binlog_row_metadata: 'FULL', read_only: 'OFF' },
          ...{ log_replica_updates: 'ON', binlog_expire_logs_seconds: String(30 * DAY) },
          ...variables,
        }),
      ),
      session: new Map([
        ['wait_timeout', '31536000'],
        ['net_write_timeout', '3600'],
      ]),
      clock: { askedAt: now, answeredAt: now, there: now },
    },
    grants: { answer: new Grants(['GRANT ALL PRIVILEGES ON *.* TO `app`@`%`']) },
    table: {
      answer: {
        ...{ schema: 'shop', label: 'shop.outbox', sqlName: '`shop`.`outbox`', columns: null },
        ...{ nullable: [], uniqueKeys: [['ID']], serverId: 77 },
      },
    },
    log: { answer: { only: [], without: [] } },
    replication: { answer: { channels: 0, replicas: [] } },
    prepared: { answer: 0 },
    keptHours: { answer: null },
    owner: { answer: null },
    reach: { answer: null },
    ...facts,
  };
}

function finding(check: string, changes: Changes): Finding | undefined {
  return findingsOf(MYSQL_CHECKS, facts(changes)).find((one) => one.check === check);
}

const offset: Offset = {
  ...{ identity: {}, watermark: 'snapshot:start', completed: [], epoch: 1, revision: 1 },
  savedAt: '2026-01-01T00:00:00.000Z',
};

it('nothing is to be done where all is as it must be', () => {
  expect(findingsOf(MYSQL_CHECKS, facts({})).filter(({ result }) => result !== 'pass')).toEqual([]);
});

it.each<readonly [string, Finding['result'], string, Changes]>([
  ['mysql-version', 'fail', 'older', { variables: { version: '5.7.44' } }],
  ['mysql-version', 'fail', 'older', { variables: { version: '10.5.9-MariaDB' } }],
  ['mysql-primary', 'warn', 'a replica', { variables: { read_only: 'ON' } }],
  ['mysql-binlog', 'fail', 'off', { variables: { log_bin: 'OFF' } }],
  ['mysql-binlog-format', 'fail', 'the default of MariaDB', { variables: { binlog_format: 'MIXED' } }],
  ['mysql-row-image', 'fail', 'partial', { variables: { binlog_row_image: 'MINIMAL' } }],
  ['mysql-row-metadata', 'fail', 'the default', { variables: { binlog_row_metadata: 'MINIMAL' } }],
  [
    'mysql-row-metadata',
    'warn',
    'the default, and done without',
    { variables: { binlog_row_metadata: 'MINIMAL' }, options: { metadata: 'minimal' } },
  ],
  ['mysql-gtid', 'warn', 'off', { variables: { gtid_mode: 'OFF' } }],
  ['mysql-binlog-filters', 'fail', 'another', { facts: { log: { answer: { only: ['a'], without: [] } } } }],
  ['mysql-binlog-filters', 'fail', 'out', { facts: { log: { answer: { only: [], without: ['shop'] } } } }],
  [
    'mysql-replica-updates',
    'fail',
    'a replica that does not log',
    {
      variables: { log_replica_updates: 'OFF' },
      facts: { replication: { answer: { channels: 1, replicas: null } } },
    },
  ],
  ['mysql-server-id', 'fail', 'that of the server', { variables: { server_id: '77' } }],
  [
    'mysql-server-id',
    'fail',
    'that of a replica',
    { facts: { replication: { answer: { channels: 0, replicas: [5, 77] } } } },
  ],
  ['mysql-undecided-xa', 'fail', 'some', { facts: { prepared: { answer: 2 } } }],
  [
    'mysql-undecided-xa',
    'warn',
    'not told',
    { facts: { prepared: { unasked: 'denied', remedy: 'grant xa_recover_admin' } } },
  ],
  ['mysql-start', 'fail', 'no start', { facts: { config: { ...facts({}).config, start: null } } }],
  ['mysql-start', 'warn', 'left in', { facts: { offset } }],
  [
    'mysql-offset',
    'fail',
    'purged',
    { facts: { offset, reach: { code: 'MYSQL_PURGED', problem: 'gone', remedy: 'raise it' } } },
  ],
  [
    'mysql-table',
    'fail',
    'missing',
    { facts: { table: { code: 'MYSQL_TABLE_MISSING', problem: 'none', remedy: 'make it' } } },
  ],
])('%s: %s (%s)', (check, result, _, changes) => {
  const found = finding(check, changes);
  expect(found?.result).toBe(result);
  expect(found?.remedy).toBeTruthy();
});

it.each([
  ['an attempt at the first start only', { facts: { offset, prepared: { answer: 2 } } }],
  ["start: 'earliest'", { options: { start: 'earliest' }, facts: { prepared: { answer: 2 } } }],
  ['a server without XA', { options: { undecidedXa: 'ignore' }, facts: { prepared: { answer: 2 } } }],
] as const)('undecided XA transactions do not matter for %s', (_, changes) => {
  expect(finding('mysql-undecided-xa', changes)).toBeUndefined();
});

const kept = (seconds: number): Record<string, string> => ({ binlog_expire_logs_seconds: String(seconds) });

describe('how long the binlog is kept', () => {
  it.each([
    ['a month, and nothing waits', kept(30 * DAY), 0, 'pass'],
    ['a month, and nobody knows how far the pipeline is', kept(30 * DAY), null, 'pass'],
    ['a month, and the pipeline is half of it behind', kept(30 * DAY), 15 * DAY, 'warn'],
    ['a month, and the pipeline is further behind', kept(30 * DAY), 31 * DAY, 'fail'],
    ['a day: a weekend is longer', kept(DAY), 0, 'warn'],
    ['for ever', kept(0), 400 * DAY, 'pass'],
    [
      'for ever, whatever the age says',
      { ...kept(DAY), binlog_expire_logs_auto_purge: 'OFF' },
      400 * DAY,
      'pass',
    ],
    ['by the older name', { ...kept(0), expire_logs_days: '1' }, 2 * DAY, 'fail'],
    ['by the newer name where both are there', { ...kept(30 * DAY), expire_logs_days: '1' }, 2 * DAY, 'pass'],
  ])('%s', (_, variables, lag, result) => {
    const found = finding('mysql-binlog-age', { variables, facts: { lag } });
    expect(found).toMatchObject({ check: 'mysql-binlog-age', result });
    expect(found?.remedy === null).toBe(result === 'pass');
  });

  it('is advised as three times what the pipeline is behind, a week at least', () => {
    const remedy = (lag: number, version = '8.4.0'): string | null | undefined =>
      finding('mysql-binlog-age', { variables: { ...kept(DAY), version }, facts: { lag } })?.remedy;
    expect(remedy(0)).toBe('set persist binlog_expire_logs_seconds = 604800;');
    expect(remedy(10 * DAY)).toBe('set persist binlog_expire_logs_seconds = 2592000;');
    expect(remedy(0, '11.4.2-MariaDB')).toBe(
      'set global binlog_expire_logs_seconds = 604800; -- and the same under [mysqld] in the configuration of the server',
    );
  });

  it.each([
    ['rds', null, 'fail', 168],
    ['rds', 24, 'warn', 168],
    ['aurora', 24, 'warn', 168],
    ['aurora', 168, 'pass', null],
  ] as const)('%s: %s hours', (service, hours, result, advised) => {
    const found = finding('mysql-binlog-age', { facts: { service, keptHours: { answer: hours } } });
    expect(found?.result).toBe(result);
    expect(found?.remedy ?? null).toBe(
      advised === null
        ? null
        : `call mysql.rds_set_configuration('binlog retention hours', ${String(advised)});`,
    );
  });

  it('has a limit by size where the server knows one', () => {
    const ofSize = (size: string): string | undefined =>
      finding('mysql-binlog-size', { variables: { max_binlog_total_size: size } })?.result;
    expect(ofSize('0')).toBe('pass');
    expect(ofSize('1073741824')).toBe('warn');
    expect(finding('mysql-binlog-size', {})).toBeUndefined();
  });
});

describe('managed services', () => {
  const of = (variables: Record<string, string>, host = 'db', hasRdsConfiguration = false): unknown =>
    serviceOf({ host, variables: new Map(Object.entries(variables)), hasRdsConfiguration });

  it.each([
    ['none', of({ version: '8.4.0' }), null],
    ['RDS by its builds', of({ basedir: '/rdsdbbin/mysql-8.4.3.R1/' }), 'rds'],
    ['RDS by its procedures', of({}, 'db', true), 'rds'],
    ['RDS by its name', of({}, 'shop.abc123.eu-west-1.rds.amazonaws.com'), 'rds'],
    ['Aurora', of({ aurora_version: '3.08.0', basedir: '/rdsdbbin/oscar' }), 'aurora'],
    ['Aurora by its name', of({}, 'shop.cluster-abc123.eu-west-1.rds.amazonaws.com'), 'aurora'],
    ['Cloud SQL', of({ version: '8.0.40-google', version_comment: '(Google)' }), 'cloudsql'],
    ['Azure', of({}, 'shop.mysql.database.azure.com'), 'azure'],
  ])('%s', (_, found, service) => {
    expect(found).toBe(service);
  });

  it.each([
    [null, 'set persist binlog_row_metadata = FULL;', 'log_bin and a server_id'],
    ['rds', 'in the DB parameter group', 'automated backups'],
    ['aurora', 'DB cluster parameter group', 'binlog_format = ROW in the DB cluster parameter group'],
    ['cloudsql', '--database-flags=binlog_row_metadata=FULL', '--enable-bin-log'],
    ['azure', 'az mysql flexible-server parameter set', 'always on there'],
  ] as const)('what comes as %s has it is changed in its own way', (service, setting, log) => {
    const changes = {
      variables: { binlog_row_metadata: 'MINIMAL', log_bin: 'OFF' },
      facts: { service, keptHours: { answer: 168 } },
    };
    expect(finding('mysql-row-metadata', changes)?.remedy).toContain(setting);
    expect(finding('mysql-binlog', changes)?.remedy).toContain(log);
  });
});

describe('grants', () => {
  it.each([
    ['GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO `a`@`%`', 'REPLICATION CLIENT', undefined, true],
    ['GRANT USAGE ON *.* TO `a`@`%`', 'REPLICATION CLIENT', undefined, false],
    ['GRANT ALL PRIVILEGES ON "shop".* TO "a"@"%"', 'LOCK TABLES', 'shop', true],
    ['GRANT ALL PRIVILEGES ON "shop".* TO "a"@"%"', 'LOCK TABLES', 'shop2', false],
    ['GRANT ALL PRIVILEGES ON `shop`.* TO `a`@`%`', 'REPLICATION SLAVE', undefined, false],
    ['GRANT LOCK TABLES ON `sh_p%`.* TO `a`@`%`', 'LOCK TABLES', 'shop_eu', true],
    ['GRANT LOCK TABLES ON `sh\\_p`.* TO `a`@`%`', 'LOCK TABLES', 'shop', false],
    ['GRANT LOCK TABLES ON `sh\\_p`.* TO `a`@`%`', 'LOCK TABLES', 'sh_p', true],
  ])('%s: %s on %s', (line, privilege, schema, has) => {
    expect(new Grants([line]).has(privilege, schema)).toBe(has);
  });

  it('a role that is not active may carry what is missing', () => {
    const grants = {
      answer: new Grants(['GRANT USAGE ON *.* TO `app`@`%`', 'GRANT `cdc`@`%` TO `app`@`%`']),
    };
    expect(finding('mysql-replication-slave', { facts: { grants } })).toMatchObject({
      result: 'fail',
      remedy: expect.stringContaining('set default role all') as string,
    });
  });
});
