import type pg from 'pg';
import type { OutboxTable } from '@strandline/source-kit';
import { postgresError } from './errors.js';
import { quoteName } from './quote.js';

/** The outbox table as the catalog has it. */
export interface TableFacts {
  readonly oid: number;
  /** `schema.table`, as the log names it. */
  readonly name: string;
  /** The same, quoted for SQL. */
  readonly sqlName: string;
  readonly partitioned: boolean;
  /** Columns in order, generated ones left out: the log does not have them. */
  readonly columns: readonly { readonly name: string; readonly typeOid: number; readonly typeName: string }[];
}

const FIND_TABLE = `
  select c.oid::int8::text as oid, n.nspname as schema, c.relname as name, c.relkind as kind, c.relpersistence as persistence,
         exists (select from pg_inherits where inhparent = c.oid)::text as inherited,
         (select min(pn.nspname || '.' || p.relname)
          from pg_partition_tree(c.oid) t join pg_class p on p.oid = t.relid join pg_namespace pn on pn.oid = p.relnamespace
          where t.isleaf and (p.relpersistence <> 'p' or p.relkind = 'f')) as unlogged
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.oid = to_regclass($1)`;

// With -1 and not null: `character` and `bit` mean one character and one bit to a cast, `bpchar` and `"bit"` any number.
const FIND_COLUMNS = `
  select attname as name, atttypid::int8::text as "typeOid", format_type(atttypid, -1) as "typeName"
  from pg_attribute
  where attrelid = $1::oid and attnum > 0 and not attisdropped and attgenerated = ''
  order by attnum`;

/** Finds and checks the outbox table. */
export async function findOutboxTable(sql: pg.Client, outbox: OutboxTable): Promise<TableFacts> {
  const given = outbox.table.split('.').map(quoteName).join('.');
  const found = await sql.query<Record<string, string>>(FIND_TABLE, [given]);
  const row = found.rows[0];
  const kind = row?.['kind'];
  if (row === undefined || (kind !== 'r' && kind !== 'p')) {
    throw postgresError(
      'PG_TABLE_MISSING',
      row === undefined
        ? `There is no table ${JSON.stringify(outbox.table)} in this database, or it is not on the search path.`
        : `${JSON.stringify(outbox.table)} is not a table.`,
      'Create it, or correct outbox.table (names are exact: case counts, and schema.table names the schema).',
    );
  }
  const schema = row['schema'] ?? '';
  const name = `${schema}.${row['name'] ?? ''}`;
  if (row['persistence'] !== 'p') {
    throw postgresError(
      'PG_TABLE_UNLOGGED',
      `The table ${name} is ${row['persistence'] === 'u' ? 'unlogged' : 'temporary'}: its rows never reach the log.`,
      `Run: alter table ${name} set logged;`,
    );
  }
  const partition = row['unlogged'] ?? null;
  if (partition !== null) {
    throw postgresError(
      'PG_TABLE_UNLOGGED',
      `The partition ${partition} of ${name} is unlogged or foreign: its rows never reach the log.`,
      `Run: alter table ${partition} set logged; or detach it.`,
    );
  }
  // The publication gives rows of partitions the root's name. Rows of children keep the child's, and a query has both.
  if (kind === 'r' && row['inherited'] === 'true') {
    throw postgresError(
      'PG_TABLE_INHERITED',
      `Other tables inherit from ${name}: the log has what is inserted into them under their names, so those rows would not be delivered.`,
      'Make it a partitioned table, or end the inheritance: alter table <child> no inherit …',
    );
  }
  const columns = await sql.query<Record<string, string>>(FIND_COLUMNS, [row['oid']]);
  const facts: TableFacts = {
    oid: Number(row['oid']),
    name,
    sqlName: `${quoteName(schema)}.${quoteName(row['name'] ?? '')}`,
    partitioned: kind === 'p',
    columns: columns.rows.map((column) => ({
      name: column['name'] ?? '',
      typeOid: Number(column['typeOid']),
      typeName: column['typeName'] ?? '',
    })),
  };
  return facts;
}

export function tableRenamed(name: string, today: string, position: string): Error {
  return postgresError(
    'PG_TABLE_CHANGED',
    `The outbox table ${name} is called ${today} now.`,
    'Its rows are in the stream under either name: name it in outbox: { table } as it is called now, or give it the old name back.',
    { position },
  );
}
