import type { Choice } from '../choice.js';
import { DEAD_LETTER_TABLES } from '../dead-letter-schema.js';
import { outboxTableSteps } from '../outbox-table.js';
import { PASSWORD, statement, type Step } from '../steps.js';
import { lacking, type Grants } from './grants.js';
import type { Needs } from './needs.js';
import type { ServerFacts } from './server-facts.js';
import { qualified, quoted } from './session.js';

const NO_GRANTS: Grants = { on: new Map(), mayGrant: false };
const FOR_SESSIONS = 'Sessions that are open keep the old value.';

/** What is missing, in the order in which it is to be done. Pure; what is there already is left out. */
export function plan(server: ServerFacts, needs: Needs, choice: Choice): Step[] {
  return [
    ...tableSteps(server, needs, choice),
    ...logSteps(server),
    ...gtidSteps(server),
    ...userSteps(server, needs),
    ...grantSteps(server, needs, choice),
  ];
}

function tableSteps({ flavour }: ServerFacts, { hasTable }: Needs, { create, table }: Choice): Step[] {
  if (!create || hasTable) return [];
  return outboxTableSteps(flavour, table);
}

const SETTINGS: readonly (readonly [name: string, value: string, why: string])[] = [
  ['binlog_format', 'ROW', 'As statements, the log does not say which rows were inserted.'],
  ['binlog_row_image', 'FULL', 'Partial rows leave columns out.'],
  [
    'binlog_row_metadata',
    'FULL',
    'The log then names its columns itself, so that a changed table is no matter.',
  ],
];

function logSteps({ flavour, variables, grants }: ServerFacts): Step[] {
  const off = variables.get('log_bin') !== 'ON';
  const wrong = SETTINGS.filter(([name, value]) => {
    const set = variables.get(name);
    return set !== undefined && set.toUpperCase() !== value;
  });
  if (off)
    return [
      statement(
        [
          '[mysqld]',
          'log_bin = binlog',
          'server_id = 1',
          ...SETTINGS.map(([name, value]) => `${name} = ${value}`),
        ].join('\n'),
        'The server writes no log. The server_id must be one that no other server of the replication has.',
        'the configuration of the server, and a restart',
      ),
    ];
  if (flavour === 'mysql') {
    const may = lacking(grants, ['SYSTEM_VARIABLES_ADMIN'], 'everywhere').length === 0 || isSuper(grants);
    return wrong.map(([name, value, why]) =>
      statement(
        `set persist ${name} = '${value}';`,
        `${why} It is ${variables.get(name) ?? '?'}. ${FOR_SESSIONS}`,
        may ? null : 'a user with system_variables_admin',
      ),
    );
  }
  const may = isSuper(grants) || lacking(grants, ['BINLOG ADMIN'], 'everywhere').length === 0;
  return [
    ...wrong.map(([name, value, why]) =>
      statement(
        `set global ${name} = '${value}';`,
        `${why} It is ${variables.get(name) ?? '?'}. ${FOR_SESSIONS}`,
        may ? null : 'a user with super or binlog admin',
      ),
    ),
    ...(wrong.length === 0
      ? []
      : [
          statement(
            ['[mysqld]', ...wrong.map(([name, value]) => `${name} = ${value}`)].join('\n'),
            'So that it stays after a restart.',
            'the configuration of the server',
          ),
        ]),
  ];
}

function isSuper(grants: Grants): boolean {
  return lacking(grants, ['SUPER'], 'everywhere').length === 0;
}

/** Not needed, and advised: a position in files is of no use on another server. */
function gtidSteps({ flavour, variables }: ServerFacts): Step[] {
  if (flavour === 'mariadb' || variables.get('gtid_mode') === 'ON' || variables.get('log_bin') !== 'ON')
    return [];
  return [
    statement(
      [
        "set persist enforce_gtid_consistency = 'ON';",
        "set persist gtid_mode = 'OFF_PERMISSIVE';",
        "set persist gtid_mode = 'ON_PERMISSIVE';",
        "set persist gtid_mode = 'ON';",
      ].join('\n'),
      'Advised, not needed: without GTIDs a saved position holds on this one server only, and an event may reach the handler before its row can be seen.',
      'whoever knows the replicas: read on enabling GTIDs online first',
    ),
  ];
}

function mayMakeUsers({ grants }: ServerFacts): boolean {
  return grants.mayGrant && lacking(grants, ['CREATE USER'], 'everywhere').length === 0;
}

function userSteps(server: ServerFacts, { account, isThere }: Needs): Step[] {
  if (isThere === true) return [];
  return [
    statement(
      `create user ${account} identified by '${PASSWORD}';`,
      isThere === null
        ? 'The pipeline logs in as this user. Whether it is there can not be seen by this user.'
        : 'The pipeline logs in as this user, which may read the log and the outbox, and nothing else.',
      isThere === false && mayMakeUsers(server) ? null : 'a user that may create users',
    ),
  ];
}

function grantSteps(server: ServerFacts, needs: Needs, choice: Choice): Step[] {
  const { table, start, deadLetters } = choice;
  const grants = needs.grants ?? NO_GRANTS;
  const isMysql = server.flavour === 'mysql';
  const by = needs.isThere !== null && mayMakeUsers(server) ? null : 'a user that may grant it';
  const grant = (
    privileges: readonly string[],
    place: { readonly schema: string; readonly name: string } | 'everywhere',
    why: string,
  ): Step[] => {
    const missing = lacking(grants, privileges, place);
    if (missing.length === 0) return [];
    const on =
      place === 'everywhere' ? '*.*' : place.name === '*' ? wholeDatabase(place.schema) : qualified(place);
    return [statement(`grant ${missing.join(', ')} on ${on} to ${needs.account};`, why, by)];
  };
  return [
    ...grant(
      ['replication slave', 'replication client'],
      'everywhere',
      'To read the log, and to know where it ends.',
    ),
    ...grant(['select'], table, 'For the rows that are there at the first start, and to check the columns.'),
    ...(isMysql && start !== 'earliest'
      ? grant(
          ['xa_recover_admin'],
          'everywhere',
          'For the first start, which must see whether XA transactions are undecided; it may be revoked afterwards.',
        )
      : []),
    ...(isMysql && start === 'snapshot'
      ? grant(
          ['lock tables'],
          { schema: table.schema, name: '*' },
          'For the start snapshot, which holds the table for a moment.',
        )
      : []),
    ...(deadLetters
      ? DEAD_LETTER_TABLES.flatMap((name, index) =>
          grant(
            ['create', 'select', 'insert', 'update', 'delete'],
            { schema: server.database, name },
            index === 0
              ? 'For the dead letters: what can not be handled waits there, in order. The pipeline makes the tables itself.'
              : 'The same.',
          ),
        )
      : []),
  ];
}

/** In the name of a whole database `_` and `%` stand for any letters. */
function wholeDatabase(database: string): string {
  return `${quoted(database.replaceAll(/[_%]/g, '\\$&'))}.*`;
}
