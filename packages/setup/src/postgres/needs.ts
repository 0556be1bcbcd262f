import { serverNameOf, type Choice } from '../choice.js';
import { DEAD_LETTER_SCHEMA } from '../dead-letter-schema.js';
import { qualified, type Row, type Session } from './session.js';

/** What is there of what a choice needs. */
export interface Needs {
  /** Null: there is no such role. */
  readonly role: {
    readonly logsIn: boolean;
    readonly replicates: boolean;
    readonly seesAllRows: boolean;
  } | null;
  readonly mayConnect: boolean;
  /** Of the outbox's schema. */
  readonly mayUseSchema: boolean;
  /** Null: there is no such table yet. */
  readonly table: {
    readonly maySelect: boolean;
    /** The user of this session owns it. */
    readonly isOwned: boolean;
    readonly rowSecurity: boolean;
  } | null;
  /** Null: there is none of that name. */
  readonly publication: {
    readonly inserts: boolean;
    readonly viaRoot: boolean;
    readonly hasTable: boolean;
  } | null;
  readonly slot: boolean;
  /** Where the dead letters go; null: there is none. */
  readonly letters: {
    readonly mayCreate: boolean;
    /** Of tables that are there already. */
    readonly mayWrite: boolean;
  } | null;
}

const ROLE = `select rolcanlogin::text as login, (rolreplication or rolsuper)::text as replicates,
  (rolbypassrls or rolsuper)::text as "seesAll" from pg_roles where rolname = $1`;

// A role that is not there has what everybody has.
const PRIVILEGES = `
  select has_database_privilege($1, current_database(), 'CONNECT')::text as connect,
    (select has_schema_privilege($1, oid, 'USAGE') from pg_namespace where nspname = $2)::text as usage`;

const TABLE = `
  select has_table_privilege($1, c.oid, 'SELECT')::text as "select", pg_has_role(c.relowner, 'USAGE')::text as owned,
    c.relrowsecurity::text as "rowSecurity"
  from pg_class c where c.oid = to_regclass($2)`;

const PUBLICATION = `
  select pubinsert::text as inserts, pubviaroot::text as "viaRoot", exists (select from pg_publication_tables t
    where t.pubname = p.pubname and t.schemaname = $2 and t.tablename = $3)::text as "hasTable"
  from pg_publication p where pubname = $1`;

const LETTERS = `
  select (has_schema_privilege($1, n.oid, 'USAGE') and has_schema_privilege($1, n.oid, 'CREATE'))::text as "create",
    (select coalesce(bool_and(has_table_privilege($1, c.oid, 'INSERT') and has_table_privilege($1, c.oid, 'UPDATE')
       and has_table_privilege($1, c.oid, 'SELECT') and has_table_privilege($1, c.oid, 'DELETE')), true)
     from pg_class c where c.relnamespace = n.oid and c.relkind = 'r')::text as "write"
  from pg_namespace n where n.nspname = $2`;

export async function readNeeds(session: Session, { name, table, role }: Choice): Promise<Needs> {
  const is = (row: Row | undefined, column: string): boolean => row?.[column] === 'true';
  const names = serverNameOf(name);
  const one = async (sql: string, ...values: string[]): Promise<Row | undefined> =>
    (await session.rows(sql, values))[0];
  const found = await one(ROLE, role);
  const grantee = found === undefined ? 'public' : role;
  const privileges = await one(PRIVILEGES, grantee, table.schema);
  const outbox = await one(TABLE, grantee, qualified(table));
  const publication = await one(PUBLICATION, names, table.schema, table.name);
  const slot = await one('select slot_name from pg_replication_slots where slot_name = $1', names);
  const letters = await one(LETTERS, grantee, DEAD_LETTER_SCHEMA);
  return {
    role: found === undefined ? null : roleOf(found),
    mayConnect: is(privileges, 'connect'),
    mayUseSchema: is(privileges, 'usage'),
    table:
      outbox === undefined
        ? null
        : {
            maySelect: is(outbox, 'select'),
            isOwned: is(outbox, 'owned'),
            rowSecurity: is(outbox, 'rowSecurity'),
          },
    publication:
      publication === undefined
        ? null
        : {
            inserts: is(publication, 'inserts'),
            viaRoot: is(publication, 'viaRoot'),
            hasTable: is(publication, 'hasTable'),
          },
    slot: slot !== undefined,
    letters:
      letters === undefined ? null : { mayCreate: is(letters, 'create'), mayWrite: is(letters, 'write') },
  };
}

function roleOf(row: Row): NonNullable<Needs['role']> {
  return {
    logsIn: row['login'] === 'true',
    replicates: row['replicates'] === 'true',
    seesAllRows: row['seesAll'] === 'true',
  };
}
