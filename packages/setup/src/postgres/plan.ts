import { serverNameOf, type Choice } from '../choice.js';
import { DEAD_LETTER_SCHEMA } from '../dead-letter-schema.js';
import { outboxTableSteps } from '../outbox-table.js';
import { PASSWORD, statement, type Step } from '../steps.js';
import type { Needs } from './needs.js';
import type { Room, ServerFacts, Service } from './server-facts.js';
import { qualified, quoted } from './session.js';

const SUPERUSER = 'a superuser';
const RESTART = 'a restart of the server';
const ROLE_FIRST = 'the role: run it once that is made';

/** What is missing, in the order in which it is to be done. Pure; what is there already is left out. */
export function plan(server: ServerFacts, needs: Needs, choice: Choice): Step[] {
  return [
    ...tableSteps(needs, choice),
    ...logSteps(server),
    ...roomSteps(server, needs),
    ...roleSteps(server, needs, choice),
    ...grantSteps(server, needs, choice),
    ...letterSteps(server, needs, choice),
    ...publicationSteps(server, needs, choice),
  ];
}

function tableSteps({ table }: Needs, { table: name, create }: Choice): Step[] {
  if (!create || table !== null) return [];
  return outboxTableSteps('postgres', name);
}

const LOGICAL_BY_SERVICE: Readonly<Record<Service, readonly [text: string, by: string]>> = {
  rds: ['rds.logical_replication = 1', 'the parameter group of the instance (or cluster), and a reboot'],
  cloudsql: ['cloudsql.logical_decoding = on', 'the flags of the instance, which restarts'],
  azure: ['wal_level = logical', 'the server parameters, and a restart'],
};

function logSteps({ walLevel, walLevelPending, isSuperuser, service }: ServerFacts): Step[] {
  if (walLevel === 'logical') return [];
  const why = `The log says only what a replica needs (wal_level = ${walLevel}), and not which rows were inserted.`;
  if (service !== null) {
    const [text, by] = LOGICAL_BY_SERVICE[service];
    return [statement(text, why, by)];
  }
  const set = statement("alter system set wal_level = 'logical';", why, isSuperuser ? null : SUPERUSER);
  const restart = statement('-- restart Postgres', 'wal_level is read at the start of the server.', RESTART);
  return walLevelPending === true ? [restart] : [set, restart];
}

/** The pipeline needs one slot, and one sender; for a moment a second one, at its start. */
function roomSteps({ slots, senders, isSuperuser, service }: ServerFacts, { slot }: Needs): Step[] {
  const raise = (setting: string, { used, max }: Room, needed: number): Step[] =>
    max - used >= needed
      ? []
      : [
          statement(
            `alter system set ${setting} = ${String(Math.max(used + needed, 10))};`,
            `${String(used)} of ${String(max)} are in use. It takes effect with a restart.`,
            isSuperuser && service === null ? null : SUPERUSER,
          ),
        ];
  return [...raise('max_replication_slots', slots, slot ? 0 : 1), ...raise('max_wal_senders', senders, 2)];
}

function roleSteps(server: ServerFacts, { role: found }: Needs, { role }: Choice): Step[] {
  const name = quoted(role);
  const replicates = server.service === 'rds' ? '' : ' replication';
  const steps: Step[] = [];
  if (found === null)
    steps.push(
      statement(
        `create role ${name} with login${replicates} password '${PASSWORD}';`,
        'The pipeline logs in as this role, which may read the log and the outbox, and nothing else.',
        mayMakeRole(server) ? null : 'a superuser, or a role that may create roles and replicate',
      ),
    );
  else {
    const lacks = [
      ...(found.logsIn ? [] : ['login']),
      ...(found.replicates || server.service === 'rds' ? [] : ['replication']),
    ];
    if (lacks.length > 0)
      steps.push(
        statement(
          `alter role ${name} with ${lacks.join(' ')};`,
          'The pipeline logs in as this role, and reads the log by the replication protocol.',
          mayMakeRole(server) ? null : SUPERUSER,
        ),
      );
  }
  if (server.service === 'rds' && found?.replicates !== true)
    steps.push(
      statement(
        `grant rds_replication to ${name};`,
        'On this service a role carries the right to replicate.',
        server.mayCreateRoles ? null : SUPERUSER,
      ),
    );
  return steps;
}

/** From 16 on whoever may create roles gives what they have themselves; before, only a superuser gives this. */
function mayMakeRole({
  isSuperuser,
  mayCreateRoles,
  mayReplicate,
  versionNumber,
  service,
}: ServerFacts): boolean {
  if (isSuperuser) return true;
  if (!mayCreateRoles) return false;
  return service !== null || (versionNumber >= 160_000 && mayReplicate);
}

function grantSteps(server: ServerFacts, needs: Needs, { role, table, start }: Choice): Step[] {
  const name = quoted(role);
  // A grant to a role that this session can't make is for whoever makes it.
  const unmade = needs.role === null && !mayMakeRole(server) ? ROLE_FIRST : null;
  const by = unmade ?? (needs.table?.isOwned === false ? "the table's owner" : null);
  return [
    ...(needs.mayConnect
      ? []
      : [
          statement(
            `grant connect on database ${quoted(server.database)} to ${name};`,
            'In this database not everybody may connect.',
            unmade,
          ),
        ]),
    ...(needs.mayUseSchema
      ? []
      : [statement(`grant usage on schema ${quoted(table.schema)} to ${name};`, 'To find the table.', by)]),
    ...(needs.table?.maySelect === true
      ? []
      : [
          statement(
            `grant select on ${qualified(table)} to ${name};`,
            'For the rows that are there at the first start, and to check the columns.',
            by,
          ),
        ]),
    ...(needs.table?.rowSecurity === true && start === 'snapshot' && needs.role?.seesAllRows !== true
      ? [
          statement(
            `alter role ${name} bypassrls;`,
            'The table has row-level security: without it the start snapshot would miss rows.',
            server.isSuperuser ? null : SUPERUSER,
          ),
        ]
      : []),
  ];
}

function letterSteps(server: ServerFacts, needs: Needs, { role, deadLetters }: Choice): Step[] {
  if (!deadLetters) return [];
  const schema = quoted(DEAD_LETTER_SCHEMA);
  const by = needs.role === null && !mayMakeRole(server) ? ROLE_FIRST : null;
  const { letters } = needs;
  return [
    ...(letters === null
      ? [
          statement(
            `create schema ${schema};`,
            'For the dead letters: what can not be handled waits there, in order.',
            server.mayCreateInDatabase ? null : 'the owner of the database',
          ),
        ]
      : []),
    ...(letters?.mayCreate === true
      ? []
      : [
          statement(
            `grant usage, create on schema ${schema} to ${quoted(role)};`,
            'The pipeline makes its tables there at the first start.',
            server.mayCreateInDatabase ? by : 'the owner of the schema',
          ),
        ]),
    ...(letters === null || letters.mayWrite
      ? []
      : [
          statement(
            `grant select, insert, update, delete on all tables in schema ${schema} to ${quoted(role)};`,
            'The tables for dead letters are there already, and belong to another role.',
            by,
          ),
        ]),
  ];
}

/** The publication comes before the slot, which the pipeline makes: what a slot has kept without one can't be read. */
function publicationSteps(server: ServerFacts, needs: Needs, { name, table }: Choice): Step[] {
  const publication = quoted(serverNameOf(name));
  const by =
    needs.table?.isOwned === false
      ? "the table's owner"
      : server.mayCreateInDatabase
        ? null
        : 'a role that owns the table and may create in the database';
  if (needs.publication === null)
    return [
      ...(needs.slot
        ? [
            statement(
              `select pg_drop_replication_slot('${serverNameOf(name)}');`,
              'A slot of that name is there without its publication: it can not be read. Drop it if nothing needs it, or choose another name for the pipeline.',
              'somebody who knows that nothing needs it',
            ),
          ]
        : []),
      statement(
        `create publication ${publication} for table ${qualified(table)} with (publish = 'insert', publish_via_partition_root = true);`,
        "Only the table's owner can make it. It names what the log is read for: the inserts of this table.",
        by,
      ),
    ];
  const { inserts, viaRoot, hasTable } = needs.publication;
  const missing = [
    ...(inserts ? [] : ["publish = 'insert'"]),
    ...(viaRoot ? [] : ['publish_via_partition_root = true']),
  ];
  return [
    ...(missing.length === 0
      ? []
      : [
          statement(
            `alter publication ${publication} set (${missing.join(', ')});`,
            'The publication is there, and does not publish what the pipeline reads.',
            by,
          ),
        ]),
    ...(hasTable
      ? []
      : [
          statement(
            `alter publication ${publication} add table ${qualified(table)};`,
            'The publication is there without the table.',
            by,
          ),
        ]),
  ];
}
