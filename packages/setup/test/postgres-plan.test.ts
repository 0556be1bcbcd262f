import { describe, expect, test } from 'vitest';
import type { Choice } from '../src/choice.js';
import type { Needs } from '../src/postgres/needs.js';
import { plan } from '../src/postgres/plan.js';
import type { ServerFacts } from '../src/postgres/server-facts.js';

const SERVER: ServerFacts = {
  ...{ version: '18.4', versionNumber: 180_004, database: 'shop', schema: 'public', user: 'postgres' },
  ...{ isSuperuser: true, mayReplicate: true, mayCreateRoles: true, mayCreateInDatabase: true },
  ...{ walLevel: 'logical', walLevelPending: false, pooler: false, service: null },
  ...{ slots: { used: 0, max: 10 }, senders: { used: 0, max: 10 } },
};

/** Of a server that nobody has prepared. */
const NOTHING: Needs = {
  ...{ role: null, mayConnect: true, mayUseSchema: true, publication: null, slot: false, letters: null },
  table: { maySelect: false, isOwned: true, rowSecurity: false },
};

const ALL: Needs = {
  ...{ mayConnect: true, mayUseSchema: true, slot: false },
  role: { logsIn: true, replicates: true, seesAllRows: false },
  table: { maySelect: true, isOwned: true, rowSecurity: false },
  publication: { inserts: true, viaRoot: true, hasTable: true },
  letters: { mayCreate: true, mayWrite: true },
};

const CHOICE: Choice = {
  name: 'shop-outbox',
  table: { schema: 'public', name: 'Outbox' },
  create: false,
  mapping: { id: 'id', key: ['key'], type: null, payload: 'payload', headers: null },
  ...{ start: 'now', role: 'strandline', deadLetters: true },
};

function texts(
  server: Partial<ServerFacts> = {},
  needs: Needs = ALL,
  choice: Partial<Choice> = {},
): string[] {
  return plan({ ...SERVER, ...server }, needs, { ...CHOICE, ...choice }).map(({ text, by }) =>
    by === null ? text : `${text} [${by}]`,
  );
}

describe('the plan for Postgres', () => {
  test('has nothing for a server that has it all', () => {
    expect(texts()).toEqual([]);
  });

  test('makes a role that may do little, and the publication last', () => {
    expect(texts({}, NOTHING)).toEqual([
      `create role "strandline" with login replication password '<password>';`,
      'grant select on "public"."Outbox" to "strandline";',
      'create schema "strandline";',
      'grant usage, create on schema "strandline" to "strandline";',
      `create publication "strandline_shop_outbox" for table "public"."Outbox" with (publish = 'insert', publish_via_partition_root = true);`,
    ]);
  });

  test('is without dead letters where none are wanted, and with the table where there is none', () => {
    const made = texts({}, { ...ALL, table: null, letters: null }, { create: true, deadLetters: false });
    expect(made).toEqual([
      expect.stringMatching(/^create table (if not exists )?"public"."Outbox" \(/),
      expect.stringMatching(/^create index /),
      'grant select on "public"."Outbox" to "strandline";',
    ]);
  });

  test('says what takes a restart, and says it once', () => {
    const restart = '-- restart Postgres [a restart of the server]';
    expect(texts({ walLevel: 'replica' })).toEqual(["alter system set wal_level = 'logical';", restart]);
    expect(texts({ walLevel: 'replica', walLevelPending: true })).toEqual([restart]);
  });

  test.each([
    ['rds', /^rds\.logical_replication = 1 \[the parameter group/],
    ['cloudsql', /^cloudsql\.logical_decoding = on \[the flags/],
    ['azure', /^wal_level = logical \[the server parameters/],
  ] as const)('on %s settings are changed elsewhere', (service, says) => {
    expect(texts({ walLevel: 'replica', service, isSuperuser: false })).toEqual([
      expect.stringMatching(says),
    ]);
  });

  test('on RDS a role carries the right to replicate', () => {
    const made = texts({ service: 'rds', isSuperuser: false }, { ...NOTHING, letters: ALL.letters });
    expect(made.slice(0, 2)).toEqual([
      `create role "strandline" with login password '<password>';`,
      'grant rds_replication to "strandline";',
    ]);
  });

  test('makes room for a slot and its senders', () => {
    const full = { slots: { used: 4, max: 4 }, senders: { used: 9, max: 10 } };
    expect(texts(full)).toEqual([
      'alter system set max_replication_slots = 10;',
      'alter system set max_wal_senders = 11;',
    ]);
    expect(texts({ slots: full.slots }, { ...ALL, slot: true })).toEqual([]);
  });

  test.each([
    ['before 16', 150_000, true],
    ['without the right to replicate', 160_000, false],
  ])(
    'whoever may only create roles, %s, leaves role and grants to others',
    (_, versionNumber, mayReplicate) => {
      const steps = plan(
        { ...SERVER, isSuperuser: false, versionNumber, mayReplicate },
        { ...NOTHING, table: { maySelect: false, isOwned: false, rowSecurity: false } },
        CHOICE,
      );
      const here = steps.filter(({ by }) => by === null).map(({ text }) => text);
      expect(here).toEqual(['create schema "strandline";']);
      expect(texts({ isSuperuser: false, versionNumber: 160_000 }, NOTHING)[0]).toMatch(
        /password '<password>';$/,
      );
    },
  );

  test('gives a role that is there what it lacks', () => {
    const needs: Needs = {
      ...ALL,
      role: { logsIn: false, replicates: false, seesAllRows: false },
      ...{ mayConnect: false, mayUseSchema: false },
      table: { maySelect: true, isOwned: true, rowSecurity: true },
      letters: { mayCreate: false, mayWrite: false },
    };
    expect(texts({}, needs, { start: 'snapshot' })).toEqual([
      'alter role "strandline" with login replication;',
      'grant connect on database "shop" to "strandline";',
      'grant usage on schema "public" to "strandline";',
      'alter role "strandline" bypassrls;',
      'grant usage, create on schema "strandline" to "strandline";',
      'grant select, insert, update, delete on all tables in schema "strandline" to "strandline";',
    ]);
  });

  test('mends a publication that is there', () => {
    const publication = { inserts: false, viaRoot: false, hasTable: false };
    expect(texts({}, { ...ALL, publication })).toEqual([
      `alter publication "strandline_shop_outbox" set (publish = 'insert', publish_via_partition_root = true);`,
      'alter publication "strandline_shop_outbox" add table "public"."Outbox";',
    ]);
  });

  test('drops no slot by itself', () => {
    const [drop, create] = texts({}, { ...ALL, publication: null, slot: true });
    expect(drop).toMatch(/^select pg_drop_replication_slot\('strandline_shop_outbox'\); \[somebody/);
    expect(create).toMatch(/^create publication .*;$/);
  });

  test('quotes names as they are', () => {
    const table = { schema: 'a"b', name: "o'x" };
    const made = texts({}, { ...NOTHING, publication: ALL.publication }, { table, role: 'Re"ader' });
    expect(made).toContain('grant select on "a""b"."o\'x" to "Re""ader";');
  });
});
