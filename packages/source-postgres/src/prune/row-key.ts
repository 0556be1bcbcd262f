import type pg from 'pg';
import { postgresError } from '../errors.js';
import type { TableFacts } from '../outbox-table.js';

export interface KeyColumn {
  readonly name: string;
  /** As SQL casts to it. */
  readonly type: string;
}

const FIND_KEY = `
  select (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) order by k.place)
          from unnest(i.indkey::int2[]) with ordinality k(number, place)
          join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
          where k.place <= i.indnkeyatts) as columns
  from pg_index i
  where i.indrelid = $1::oid and i.indisunique and i.indisvalid and i.indimmediate and i.indpred is null and i.indexprs is null
    and not exists (select from unnest(i.indkey::int2[]) with ordinality k(number, place)
                    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
                    where k.place <= i.indnkeyatts and not a.attnotnull)
  order by i.indisprimary desc, i.indnkeyatts
  limit 1`;

/** The columns of the primary key, or of another one that no two rows share. Throws `PG_PRUNE_KEY` when there is none. */
export async function findKey(sql: pg.Client, table: TableFacts): Promise<readonly KeyColumn[]> {
  const { rows } = await sql.query<{ columns: KeyColumn[] }>(FIND_KEY, [table.oid]);
  const [row] = rows;
  if (row !== undefined) return row.columns;
  throw postgresError(
    'PG_PRUNE_KEY',
    `The table ${table.name} has no primary key: rows can't be deleted one by one.`,
    `Run: alter table ${table.name} add primary key (…);`,
  );
}

const FIND_INDEX = `
  select from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
  join pg_class c on c.oid = i.indexrelid join pg_am m on m.oid = c.relam
  where i.indrelid = $1::oid and m.amname = 'btree' and i.indisvalid and i.indisready and i.indpred is null
    and a.attname = $2`;

/** Whether an index has the rows in the order of this column. */
export async function isIndexed(sql: pg.Client, table: TableFacts, column: string): Promise<boolean> {
  const { rowCount } = await sql.query(FIND_INDEX, [table.oid, column]);
  return (rowCount ?? 0) > 0;
}
