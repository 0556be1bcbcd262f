import type { Pool } from 'pg';
import { errorField } from './database.js';
import { NEEDED, type TableLook } from './diagnose.js';
import { schemaError } from './errors.js';
import type { TableName, ValidOptions } from './options.js';

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The table, as SQL has it. */
export function postgresTable({ schema, name }: TableName): string {
  return schema === null ? quoted(name) : `${quoted(schema)}.${quoted(name)}`;
}

export function postgresDdl(table: TableName): string[] {
  const sql = postgresTable(table);
  return [
    `CREATE TABLE IF NOT EXISTS ${sql} (inbox text COLLATE "C" NOT NULL, event bytea NOT NULL, recorded_at timestamptz NOT NULL, PRIMARY KEY (inbox, event))`,
    `CREATE INDEX IF NOT EXISTS ${quoted(`${table.name}_recorded`)} ON ${sql} (inbox, recorded_at)`,
  ];
}

interface Found {
  readonly columns: string | null;
  readonly isUnique: boolean;
  readonly isLogged: boolean;
}

const LOOK = `SELECT
    (SELECT string_agg(attname || ' ' || format_type(atttypid, NULL), ', ' ORDER BY attname)
      FROM pg_attribute WHERE attrelid = c.oid AND attname IN ('inbox', 'event', 'recorded_at') AND NOT attisdropped) AS columns,
    EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
      AND i.indexprs IS NULL AND ARRAY['event', 'inbox'] = (SELECT array_agg(a.attname::text ORDER BY a.attname)
        FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY (i.indkey))) AS "isUnique",
    c.relpersistence = 'p' AS "isLogged"
  FROM pg_class c WHERE c.oid = to_regclass($1) AND c.relkind IN ('r', 'p')`;

const COLUMNS = 'event bytea, inbox text, recorded_at timestamp with time zone';

/** Makes the table when it is missing and may be made, and checks it. */
export async function preparePostgres(
  pool: Pick<Pool, 'query'>,
  { table, create }: ValidOptions,
): Promise<void> {
  const sql = postgresTable(table);
  const ddl = postgresDdl(table);
  let found = await look(pool, table);
  if (found === undefined && create) {
    // Two processes that make it at once get in each other's way, IF NOT EXISTS or not: then it is there.
    const failure = await pool.query(ddl.join(';')).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    if (failure !== null && errorField(failure.error, 'severity') === undefined) throw failure.error;
    found = await look(pool, table);
    if (found === undefined)
      throw schemaError(`The inbox's table ${sql} can't be made.`, ddl, failure?.error);
  }
  const problem = found === undefined ? 'is missing' : problemOf(found);
  if (problem !== null) throw schemaError(`The inbox's table ${sql} ${problem}.`, ddl);
}

/** What is there, and what this user may do. Changes nothing. */
export async function lookPostgres(pool: Pick<Pool, 'query'>, table: TableName): Promise<TableLook> {
  const sql = postgresTable(table);
  const found = await look(pool, table);
  if (found === undefined) {
    const { rows } = await pool.query<{ may: boolean }>(
      `SELECT count(*) > 0 AS may FROM pg_namespace
        WHERE nspname = coalesce($1::text, current_schema()) AND has_schema_privilege(oid, 'create')`,
      [table.schema],
    );
    return { kind: 'missing', mayCreate: rows[0]?.may === true ? 'yes' : 'no' };
  }
  const problem = problemOf(found);
  if (problem !== null) return { kind: 'unfit', problem };
  const { rows } = await pool.query<{ lacking: string[] }>(
    `SELECT array(SELECT p FROM unnest($2::text[]) AS p WHERE NOT has_table_privilege(to_regclass($1), p)) AS lacking`,
    [sql, NEEDED],
  );
  return { kind: 'there', lacking: rows[0]?.lacking ?? [] };
}

async function look(pool: Pick<Pool, 'query'>, table: TableName): Promise<Found | undefined> {
  return (await pool.query<Found>(LOOK, [postgresTable(table)])).rows[0];
}

function problemOf({ columns, isUnique, isLogged }: Found): string | null {
  if (columns !== COLUMNS) return `has the columns ${columns ?? 'of something else'}`;
  if (!isUnique) return 'lets an event be recorded twice: it has no primary key';
  return isLogged ? null : 'is unlogged or temporary: a crash of the server would empty it';
}
