import { NAMES_READ, TABLES_LOOKED_AT, type TableFacts, type TableName } from '../facts.js';
import { grouped } from '../grouped.js';
import { likeliest } from '../guess/table-names.js';
import { qualified, type Row, type Session } from './session.js';

/** Tables, and roots of partitioned ones, that somebody made; not those of one session alone. */
const NAMES = `
  select c.oid::text as oid, n.nspname as schema, c.relname as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence <> 't'
    and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
  order by n.nspname = current_schema() desc, n.nspname, c.relname
  limit $1`;

const TABLES = `
  select c.oid::text as oid, n.nspname as schema, c.relname as name, c.relpersistence as persistence,
    case when c.relkind = 'p' then (select sum(greatest(l.reltuples, 0))::int8 from pg_partition_tree(c.oid) t
      join pg_class l on l.oid = t.relid where t.isleaf)::text
      when c.reltuples < 0 then s.n_live_tup::text else c.reltuples::int8::text end as rows,
    s.n_tup_ins::text as inserted, s.n_tup_upd::text as updated, s.n_tup_del::text as deleted,
    (c.relkind = 'r' and exists (select from pg_inherits where inhparent = c.oid))::text as inherited,
    array_to_json(coalesce((select array_agg(a.attname order by k.place) from pg_index i, unnest(i.indkey) with ordinality k (num, place)
      join pg_attribute a on a.attnum = k.num where i.indrelid = c.oid and i.indisprimary and a.attrelid = c.oid), '{}'))::text as key
  from pg_class c join pg_namespace n on n.oid = c.relnamespace left join pg_stat_user_tables s on s.relid = c.oid
  where c.oid = any ($1::oid[])`;

const COLUMNS = `
  select attrelid::text as oid, attname as name, lower(format_type(atttypid, atttypmod)) as type, (not attnotnull)::text as nullable
  from pg_attribute
  where attrelid = any ($1::oid[]) and attnum > 0 and not attisdropped and attgenerated = ''
  order by attrelid, attnum`;

export interface Tables {
  /** Of all that are there, as far as they were counted. */
  readonly count: number;
  readonly tables: readonly TableFacts[];
}

/** The tables that are most like an outbox, and the one that was named. */
export async function readTables(session: Session, named: TableName | null): Promise<Tables> {
  const names = (await session.rows(NAMES, [NAMES_READ])).map((row) => ({
    oid: row['oid'] ?? '',
    schema: row['schema'] ?? '',
    name: row['name'] ?? '',
  }));
  const wanted = names.filter(({ schema, name }) => schema === named?.schema && name === named.name);
  const looked = [...new Set([...wanted, ...likeliest(names, TABLES_LOOKED_AT)])];
  const oids = looked.map(({ oid }) => oid);
  const rows = new Map((await session.rows(TABLES, [oids])).map((row) => [row['oid'], row]));
  const columns = grouped(await session.rows(COLUMNS, [oids]), 'oid');
  return {
    count: names.length,
    // A table that was dropped meanwhile has no row.
    tables: looked.flatMap(({ oid }) => {
      const row = rows.get(oid);
      return row === undefined ? [] : [tableFacts(row, columns.get(oid) ?? [])];
    }),
  };
}

function tableFacts(row: Row, columns: readonly Row[]): TableFacts {
  const { schema = '', name = '' } = row;
  return {
    schema: schema ?? '',
    name: name ?? '',
    columns: columns.map((column) => ({
      name: column['name'] ?? '',
      type: column['type'] ?? '',
      nullable: column['nullable'] === 'true',
    })),
    primaryKey: JSON.parse(row['key'] ?? '[]') as string[],
    rows: numberOrNull(row['rows']),
    writes:
      numberOrNull(row['inserted']) === null
        ? null
        : {
            inserted: Number(row['inserted']),
            updated: Number(row['updated']),
            deleted: Number(row['deleted']),
          },
    obstacle: obstacleOf(row),
  };
}

function obstacleOf(row: Row): TableFacts['obstacle'] {
  const table = qualified({ schema: row['schema'] ?? '', name: row['name'] ?? '' });
  if (row['persistence'] === 'u')
    return { what: 'It is unlogged: its rows never reach the log.', sql: `alter table ${table} set logged;` };
  if (row['inherited'] === 'true')
    return {
      what: 'Other tables inherit from it: the log has their rows under their own names.',
      sql: `-- make it a partitioned table, or for each child: alter table … no inherit ${table};`,
    };
  return null;
}

function numberOrNull(text: string | null | undefined): number | null {
  return text === null || text === undefined ? null : Number(text);
}
