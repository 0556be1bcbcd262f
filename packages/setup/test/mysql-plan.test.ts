import { describe, expect, test } from 'vitest';
import type { Choice } from '../src/choice.js';
import { lacking, parseGrants } from '../src/mysql/grants.js';
import type { Needs } from '../src/mysql/needs.js';
import { plan } from '../src/mysql/plan.js';
import type { ServerFacts } from '../src/mysql/server-facts.js';

const GOOD = {
  ...{ log_bin: 'ON', binlog_format: 'ROW', binlog_row_image: 'FULL', binlog_row_metadata: 'FULL' },
  gtid_mode: 'ON',
};
const ROOT = parseGrants(['GRANT ALL PRIVILEGES ON *.* TO `root`@`%` WITH GRANT OPTION']);

function server(facts: Partial<ServerFacts> = {}, variables: Record<string, string> = {}): ServerFacts {
  return {
    ...{ flavour: 'mysql', version: '9.7.4', database: 'my_shop', user: 'root', grants: ROOT, ...facts },
    variables: new Map(Object.entries({ ...GOOD, ...variables })),
  };
}

const NOTHING: Needs = { account: "'strandline'@'%'", isThere: false, grants: null, hasTable: true };

const CHOICE: Choice = {
  name: 'shop-outbox',
  table: { schema: 'my_shop', name: 'outbox' },
  create: false,
  mapping: { id: 'id', key: ['key'], type: null, payload: 'payload', headers: null },
  ...{ start: 'now', role: 'strandline', deadLetters: false },
};

function texts(facts: ServerFacts, needs: Needs = NOTHING, choice: Partial<Choice> = {}): string[] {
  return plan(facts, needs, { ...CHOICE, ...choice }).map(({ text, by }) =>
    by === null ? text : `${text} [${by}]`,
  );
}

/** What the plan grants, as the server lists it afterwards. */
function granted(facts: ServerFacts, choice: Partial<Choice>): string[] {
  return texts(facts, NOTHING, choice)
    .filter((text) => text.startsWith('grant'))
    .map((text) =>
      text.replace(
        /^grant (.*) on (.*) to .*;$/,
        (_, what: string, on: string) => `GRANT ${what.toUpperCase()} ON ${on} TO \`strandline\`@\`%\``,
      ),
    );
}

describe('the plan for MySQL and MariaDB', () => {
  test('makes a user that may do little', () => {
    expect(texts(server())).toEqual([
      "create user 'strandline'@'%' identified by '<password>';",
      "grant replication slave, replication client on *.* to 'strandline'@'%';",
      "grant select on `my_shop`.`outbox` to 'strandline'@'%';",
      "grant xa_recover_admin on *.* to 'strandline'@'%';",
    ]);
    expect(texts(server({ flavour: 'mariadb' }))).toHaveLength(3);
  });

  test('adds what a start snapshot and dead letters need, in a database whose name is no pattern', () => {
    const made = texts(server(), NOTHING, { start: 'snapshot', deadLetters: true });
    expect(made[4]).toBe("grant lock tables on `my\\_shop`.* to 'strandline'@'%';");
    expect(made.slice(5)).toEqual(
      ['dead_letters', 'parked_keys', 'letter_owners'].map(
        (name) =>
          `grant create, select, insert, update, delete on \`my_shop\`.\`strandline_${name}\` to 'strandline'@'%';`,
      ),
    );
  });

  test.each(['mysql', 'mariadb'] as const)('has nothing left for %s when its grants are there', (flavour) => {
    const choice = { start: 'snapshot', deadLetters: true } as const;
    const grants = parseGrants(granted(server({ flavour }), choice));
    expect(texts(server({ flavour }), { ...NOTHING, isThere: true, grants }, choice)).toEqual([]);
  });

  test('sets what can be set, and leaves the configuration to others', () => {
    const mixed = { binlog_format: 'MIXED', binlog_row_metadata: 'MINIMAL' };
    const there = { ...NOTHING, isThere: true, grants: ROOT };
    expect(texts(server({}, mixed), there)).toEqual([
      "set persist binlog_format = 'ROW';",
      "set persist binlog_row_metadata = 'FULL';",
    ]);
    expect(texts(server({ flavour: 'mariadb' }, mixed), there)).toEqual([
      "set global binlog_format = 'ROW';",
      "set global binlog_row_metadata = 'FULL';",
      '[mysqld]\nbinlog_format = ROW\nbinlog_row_metadata = FULL [the configuration of the server]',
    ]);
    expect(texts(server({}, { log_bin: 'OFF' }), there)).toEqual([
      expect.stringMatching(/^\[mysqld\]\nlog_bin = binlog\n[\s\S]*a restart\]$/),
    ]);
    expect(texts(server({}, { gtid_mode: 'OFF' }), there)).toEqual([
      expect.stringMatching(/gtid_mode = 'ON';[\s\S]*\[whoever knows the replicas/),
    ]);
  });

  test('leaves to others what this user may not do, or not see', () => {
    const poor = server({ grants: parseGrants(['GRANT ALL PRIVILEGES ON `my_shop`.* TO `app`@`%`']) });
    for (const text of texts(poor)) expect(text).toMatch(/ \[a user that may /);
    expect(texts(server(), { ...NOTHING, isThere: null })[0]).toMatch(
      /^create user .* \[a user that may create users\]$/,
    );
  });
});

describe('grants', () => {
  const grants = parseGrants([
    "GRANT SELECT, REPLICATION SLAVE, BINLOG MONITOR ON *.* TO `a`@`%` IDENTIFIED BY PASSWORD '*1'",
    'GRANT XA_RECOVER_ADMIN ON *.* TO `a`@`%`',
    'GRANT ALL PRIVILEGES ON `my\\_shop`.* TO `a`@`%`',
    'GRANT SELECT (`id`, `key`), INSERT ON `other`.`outbox` TO `a`@`%` WITH GRANT OPTION',
    'GRANT `some_role`@`%` TO `a`@`%`',
  ]);

  test.each([
    [['replication slave', 'replication client', 'xa_recover_admin'], 'everywhere', []],
    [['lock tables'], 'everywhere', ['lock tables']],
    [['lock tables', 'create'], { schema: 'my_shop', name: 'x' }, []],
    [['insert', 'update'], { schema: 'other', name: 'outbox' }, ['update']],
    [['insert'], { schema: 'other', name: 'users' }, ['insert']],
  ] as const)('%j on %j lack %j', (privileges, place, missing) => {
    expect(lacking(grants, privileges, place)).toEqual(missing);
  });

  test('are handed on by who has the option everywhere', () => {
    expect([grants.mayGrant, ROOT.mayGrant]).toEqual([false, true]);
    expect(
      parseGrants(['GRANT SELECT, CREATE USER ON *.* TO `a`@`%` REQUIRE SSL WITH GRANT OPTION']).mayGrant,
    ).toBe(true);
  });
});
