import type { Pool } from 'pg';
import { errorField } from './database.js';
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
  const look = async (): Promise<Found | undefined> => (await pool.query<Found>(LOOK, [sql])).rows[0];
  let found = await look();
  if (found === undefined && create) {
    // Two processes that make it at once get in each other's way, IF NOT EXISTS or not: then it is there.
    const failure = await pool.query(ddl.join(';')).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    if (failure !== null && errorField(failure.error, 'severity') === undefined) throw failure.error;
    found = await look();
    if (found === undefined)
      throw schemaError(`The inbox's table ${sql} can't be made.`, ddl, failure?.error);
  }
  if (found === undefined) throw schemaError(`The inbox's table ${sql} is missing.`, ddl);
  if (found.columns !== COLUMNS)
    throw schemaError(
      `The inbox's table ${sql} has the columns ${found.columns ?? 'of something else'}.`,
      ddl,
    );
  if (!found.isUnique)
    throw schemaError(
      `The inbox's table ${sql} lets an event be recorded twice: it has no primary key.`,
      ddl,
    );
  if (!found.isLogged)
    throw schemaError(
      `The inbox's table ${sql} is unlogged or temporary: a crash of the server would empty it.`,
      ddl,
    );
}
