import { findingsOf, type Finding, type Offset } from '@strandline/core';
import { describe, expect, it } from 'vitest';
import { parsePostgresOptions, type PostgresOptions } from '../src/config.js';
import type {
  PostgresFacts,
  ServerState,
  SlotState,
  TableState,
  VacuumState,
} from '../src/diagnose/facts.js';
import { POSTGRES_CHECKS } from '../src/diagnose/index.js';
import { isPoolerHost, serviceOf } from '../src/diagnose/service.js';

interface Changes {
  readonly facts?: Partial<PostgresFacts>;
  readonly server?: Partial<ServerState>;
  readonly settings?: Readonly<Record<string, string>>;
  readonly table?: Partial<TableState>;
  readonly slot?: Partial<SlotState>;
  readonly options?: Partial<PostgresOptions>;
}

const SLOT: SlotState = {
  ...{ type: 'logical', plugin: 'pgoutput', database: 'shop', temporary: false, twoPhase: false },
  ...{ failover: false, invalidation: null, status: 'reserved', confirmed: 16n, safeBytes: null },
  ...{ retainedBytes: 1_048_576, reader: null },
};

const VACUUM: VacuumState = {
  ...{ table: 't', live: 5, dead: 0, vacuumedAt: null, off: null, scaleFactor: 0.2 },
};

const OFFSET: Offset = {
  identity: {
    ...{ source: 'postgres', system: '7', database: 'shop', slot: 'strandline_orders', timeline: '1' },
    ...{ publication: '100', membership: '101' },
  },
  ...{ watermark: '0/20:0', completed: [], epoch: 1, revision: 1, savedAt: '2026-01-01T00:00:00.000Z' },
};

/** A server, table and role as they must be, of a pipeline that has run; but for what is given. */
function facts({ facts = {}, server, settings, table, slot, options }: Changes): PostgresFacts {
  const now = Date.now();
  return {
    config: parsePostgresOptions({
      ...{ url: 'postgres://app@db/shop', outbox: { table: 'outbox', id: 'id', key: 'key' } },
      ...options,
    }),
    ...{ slotName: 'strandline_orders', publicationName: 'strandline_orders' },
    ...{ namePrefix: 'strandline/orders/', offset: OFFSET, service: null },
    server: {
      ...{ version: 180_004, versionText: '18.4', host: 'db', port: 5432, role: '"app"', database: 'shop' },
      ...{ inRecovery: false, encoding: 'UTF8', mayCreate: true, isSuperuser: false, seesActivity: true },
      clock: { askedAt: now, answeredAt: now, there: now },
      settings: new Map(
        Object.entries({
          ...{ wal_level: 'logical', max_replication_slots: '10', max_wal_senders: '10' },
          ...{ max_slot_wal_keep_size: '-1', idle_replication_slot_timeout: '0', statement_timeout: '0' },
          ...settings,
        }),
      ),
      ...server,
    },
    replication: { answer: { system: '7', timeline: 1, walSenderTimeout: 60_000 } },
    table: {
      answer: {
        ...{ name: 'public.outbox', sqlName: '"public"."outbox"', oid: '1', kind: 'table', unlogged: [] },
        columns: ['id', 'key'].map((name) => ({
          ...{ name, type: 'text', isNullable: false, isGenerated: false },
        })),
        ...{ uniqueKeys: [['id']], withoutIdentity: [], maySelect: true, hidesRows: false, isOwner: true },
        hasChildren: false,
        ...table,
      },
    },
    publication: {
      answer: {
        ...{ name: 'strandline_orders', oid: '100', membership: '101', viaRoot: true, allTables: false },
        ...{ inserts: true, updates: false, deletes: false, truncates: false },
        entry: { columns: null, filter: null },
      },
    },
    publications: { answer: [] },
    slots: { answer: { used: 1, senders: 1, ours: { ...SLOT, ...slot } } },
    transactions: { answer: { open: [], prepared: [] } },
    standbys: { answer: { count: 0 } },
    vacuum: { answer: VACUUM },
    ...facts,
  };
}

function finding(check: string, changes: Changes): Finding | undefined {
  return findingsOf(POSTGRES_CHECKS, facts(changes)).find((one) => one.check === check);
}

const noSlot = { answer: { used: 10, senders: 1, ours: null } };
const open = (age: number | null): Pick<PostgresFacts, 'transactions'> => ({
  transactions: { answer: { open: [{ pid: 5, age }], prepared: [] } },
});

it('nothing is to be done where all is as it must be', () => {
  expect(findingsOf(POSTGRES_CHECKS, facts({})).filter(({ result }) => result !== 'pass')).toEqual([]);
});

it.each<readonly [string, Finding['result'], string, Changes]>([
  ['postgres-version', 'fail', 'older', { server: { version: 130_009, versionText: '13.9' } }],
  ['postgres-primary', 'fail', 'a standby', { server: { inRecovery: true } }],
  ['postgres-wal-level', 'fail', 'replica', { settings: { wal_level: 'replica' } }],
  ['postgres-encoding', 'warn', 'another', { server: { encoding: 'LATIN1' } }],
  ['postgres-session-limits', 'warn', 'one is left', { settings: { statement_timeout: '5000' } }],
  ['postgres-synchronous', 'fail', 'everybody', { settings: { synchronous_standby_names: 'ANY 1 (*)' } }],
  ['postgres-synchronous', 'pass', 'a name with a star', { settings: { synchronous_standby_names: '"a*"' } }],
  [
    'postgres-clock',
    'warn',
    'an hour ahead',
    { server: { clock: { askedAt: 0, answeredAt: 10, there: 3_600_000 } } },
  ],
  [
    'postgres-wal-sender-timeout',
    'warn',
    'shorter than our patience',
    { facts: { replication: { answer: { system: '7', timeline: 1, walSenderTimeout: 5_000 } } } },
  ],
  ['postgres-table', 'fail', 'missing', { facts: { table: { answer: 'missing' } } }],
  ['postgres-table', 'fail', 'children', { table: { hasChildren: true } }],
  ['postgres-columns', 'fail', 'missing', { table: { columns: [] } }],
  [
    'postgres-id',
    'pass',
    'a partition key beside it',
    { table: { kind: 'partitioned', uniqueKeys: [['id', 'day']] } },
  ],
  ['postgres-id', 'warn', 'two columns', { table: { uniqueKeys: [['id', 'day']] } }],
  [
    'postgres-select',
    'fail',
    'row security',
    { table: { hidesRows: true }, options: { start: 'snapshot' }, facts: { offset: null } },
  ],
  [
    'postgres-replica-identity',
    'pass',
    'none, and none needed',
    { table: { withoutIdentity: ['public.outbox'] } },
  ],
  ['postgres-publication', 'fail', 'gone', { facts: { publication: { answer: null } } }],
  [
    'postgres-publication',
    'pass',
    'not made yet',
    { facts: { publication: { answer: null }, offset: null, slots: noSlot } },
  ],
  [
    'postgres-publication',
    'fail',
    'not to be made',
    { facts: { publication: { answer: null }, offset: null, slots: noSlot }, options: { create: false } },
  ],
  ['postgres-slot', 'fail', 'gone', { facts: { slots: noSlot } }],
  ['postgres-slot', 'fail', 'lost', { slot: { status: 'lost' } }],
  ['postgres-slot', 'fail', 'invalidated', { slot: { invalidation: 'idle_timeout' } }],
  ['postgres-slot', 'fail', 'unreserved', { slot: { status: 'unreserved' } }],
  [
    'postgres-slot',
    'warn',
    'narrow',
    { slot: { safeBytes: 1 }, settings: { max_slot_wal_keep_size: '100' } },
  ],
  ['postgres-slot-kind', 'fail', 'another plugin', { slot: { plugin: 'wal2json' } }],
  ['postgres-slot-kind', 'fail', 'another database', { slot: { database: 'other' } }],
  ['postgres-slot-reader', 'fail', 'a stranger', { slot: { reader: { pid: 5, name: 'debezium' } } }],
  ['postgres-slot-reader', 'pass', 'ours', { slot: { reader: { pid: 5, name: 'strandline/orders/ab' } } }],
  ['postgres-offset', 'fail', 'moved past it', { slot: { confirmed: 64n } }],
  [
    'postgres-offset',
    'pass',
    'moved past what was read of it, by the pipeline itself',
    { slot: { confirmed: 64n, reader: { pid: 5, name: 'strandline/orders/ab' } } },
  ],
  [
    'postgres-offset',
    'fail',
    'another server',
    { facts: { replication: { answer: { system: '8', timeline: 1, walSenderTimeout: 0 } } } },
  ],
  [
    'postgres-offset',
    'fail',
    'another publication',
    { facts: { offset: { ...OFFSET, identity: { ...OFFSET.identity, membership: '9' } } } },
  ],
  ['postgres-slots-free', 'fail', 'none', { facts: { slots: noSlot, offset: null } }],
  ['postgres-senders-free', 'fail', 'none', { settings: { max_wal_senders: '1' } }],
  ['postgres-senders-free', 'warn', 'one', { settings: { max_wal_senders: '2' } }],
  ['postgres-slot-failover', 'warn', 'not brought along', { facts: { standbys: { answer: { count: 1 } } } }],
  [
    'postgres-slot-failover',
    'pass',
    'brought along',
    { facts: { standbys: { answer: { count: 1 } } }, slot: { failover: true } },
  ],
  [
    'postgres-slot-failover',
    'warn',
    'unknown to the version',
    { facts: { standbys: { answer: { count: 2 } } }, slot: { failover: null } },
  ],
  ['postgres-slot-limit', 'warn', 'there is one', { settings: { max_slot_wal_keep_size: '4096' } }],
  ['postgres-slot-idle', 'warn', 'there is one', { settings: { idle_replication_slot_timeout: '3600' } }],
  ['postgres-slot-idle', 'warn', 'of the service', { facts: { service: 'neon' } }],
  ['postgres-open-transactions', 'warn', 'an old one', { facts: open(7_200) }],
  ['postgres-open-transactions', 'pass', 'a young one', { facts: open(3) }],
  [
    'postgres-open-transactions',
    'warn',
    'one that may not be seen',
    { facts: open(null), server: { seesActivity: false } },
  ],
  [
    'postgres-prepared-transactions',
    'warn',
    'an old one',
    { facts: { transactions: { answer: { open: [], prepared: [{ gid: "it's", age: 7_200 }] } } } },
  ],
])('%s: %s (%s)', (check, result, _, changes) => {
  const found = finding(check, changes);
  expect(found?.result, found?.found).toBe(result);
  expect(found?.remedy === null).toBe(result === 'pass');
});

it('what could not be asked is a warning with its reason, and what hangs on it, too', () => {
  const unasked = { unasked: 'permission denied for table pg_publication', remedy: 'grant select …' };
  const findings = findingsOf(POSTGRES_CHECKS, facts({ facts: { publication: unasked } }));
  const warned = findings.filter(({ result }) => result === 'warn');
  expect(warned.map(({ check }) => check)).toContain('postgres-publication');
  for (const { found, remedy } of warned)
    expect([found, remedy]).toEqual([`not known: ${unasked.unasked}`, unasked.remedy]);
  expect(findings.filter(({ result }) => result === 'pass').length).toBeGreaterThan(15);
});

describe('poolers', () => {
  it.each([
    ['aws-0-eu-west-1.pooler.supabase.com', 5432, true],
    ['db.abcdefghijkl.supabase.co', 6543, true],
    ['db.abcdefghijkl.supabase.co', 5432, false],
    ['ep-cool-sun-123-pooler.eu-west-2.aws.neon.tech', 5432, true],
    ['ep-cool-sun-123.eu-west-2.aws.neon.tech', 5432, false],
    ['my-pooler.example.com', 6543, false],
  ])('%s:%d', (host, port, is) => {
    expect(isPoolerHost(host, port)).toBe(is);
  });
});

describe('managed services by their names', () => {
  it.each([
    ['shop.abc123.eu-west-1.rds.amazonaws.com', 'rds'],
    ['shop.cluster-abc123.eu-west-1.rds.amazonaws.com', 'aurora'],
    ['shop.postgres.database.azure.com', 'azure'],
    ['db.abcdefghijkl.supabase.co', 'supabase'],
    ['ep-cool-sun-123.eu-west-2.aws.neon.tech', 'neon'],
    ['db.example.com', null],
  ])('%s', (host, service) => {
    expect(serviceOf({ host, roles: new Set(), settings: new Set(), aurora: false })).toBe(service);
  });
});

it.each([
  ['quiet', {}, 'pass', null],
  ['few dead rows', { dead: 9_999, live: 0 }, 'pass', null],
  ['fewer than live ones', { dead: 20_000, live: 30_000 }, 'pass', null],
  ['more than live ones', { dead: 20_000, live: 10_000 }, 'warn', /^alter table t set \(.*\); vacuum t;$/],
  ['switched off', { off: 'table' as const }, 'warn', /^alter table t reset/],
  ['switched off for all', { off: 'server' as const }, 'warn', /^alter system set autovacuum = on/],
])('autovacuum of a table that is %s', (_, change, result, remedy) => {
  const changed = facts({ facts: { vacuum: { answer: { ...VACUUM, ...change } } } });
  const finding = findingsOf(POSTGRES_CHECKS, changed).find(
    ({ check }) => check === 'postgres-outbox-vacuum',
  );
  expect(finding?.result).toBe(result);
  if (remedy === null) expect(finding?.remedy).toBeNull();
  else expect(finding?.remedy).toMatch(remedy);
});
