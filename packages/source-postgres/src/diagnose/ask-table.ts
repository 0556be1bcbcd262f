import type { OutboxTable } from '@strandline/source-kit';
import type pg from 'pg';
import { quoteName } from '../quote.js';
import type { ColumnState, PublicationState, PublishedTable, TableState } from './facts.js';

/**
 * The leaves of the table: its partitions, or itself. It is they whose rows are updated and deleted, and that need a
 * replica identity for it: a full one, an index, or a primary key that is not deferrable.
 */
const FIND_TABLE = `
  with leaf as (
    select p.oid, p.relname, p.relpersistence, p.relkind, p.relreplident, pn.nspname
    from pg_class p join pg_namespace pn on pn.oid = p.relnamespace
    where p.oid = to_regclass($1) and p.relkind <> 'p'
      or p.oid in (select relid from pg_partition_tree(to_regclass($1)) where isleaf)
  )
  select c.oid::int8::text as oid, n.nspname as schema, c.relname as name, c.relkind::text as kind,
         c.relkind <> 'p' and exists (select from pg_inherits where inhparent = c.oid) as "hasChildren",
         array(select quote_ident(nspname) || '.' || quote_ident(relname) from leaf
               where relpersistence <> 'p' or relkind = 'f' order by 1) as unlogged,
         array(select quote_ident(nspname) || '.' || quote_ident(relname) from leaf
               where relreplident = 'n' or relreplident = 'd' and not exists (
                 select from pg_index i where i.indrelid = leaf.oid and i.indisprimary and i.indimmediate)
               order by 1) as "withoutIdentity",
         has_table_privilege(c.oid, 'select') as "maySelect",
         row_security_active(c.oid) as "hidesRows",
         pg_has_role(c.relowner, 'usage') as "isOwner"
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = to_regclass($1)`;

const FIND_COLUMNS = `
  select attname::text as name, format_type(atttypid, -1) as type, not attnotnull as "isNullable",
         attgenerated <> '' as "isGenerated"
  from pg_attribute where attrelid = $1::oid and attnum > 0 and not attisdropped order by attnum`;

const FIND_KEYS = `
  select array(select a.attname::text from unnest(i.indkey[0:i.indnkeyatts - 1]) with ordinality as k (attnum, place)
               join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum order by place) as columns
  from pg_index i
  where i.indrelid = $1::oid and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null`;

type TableRow = Pick<
  TableState,
  'oid' | 'hasChildren' | 'unlogged' | 'withoutIdentity' | 'maySelect' | 'hidesRows' | 'isOwner'
> & { readonly schema: string; readonly name: string; readonly kind: string };

export async function askTable(sql: pg.Client, outbox: OutboxTable): Promise<TableState | 'missing'> {
  const given = outbox.table.split('.').map(quoteName).join('.');
  const { rows } = await sql.query<TableRow>(FIND_TABLE, [given]);
  const [row] = rows;
  if (row === undefined) return 'missing';
  const { schema, name, kind, ...rest } = row;
  const columns = await sql.query<ColumnState>(FIND_COLUMNS, [row.oid]);
  const keys = await sql.query<{ columns: string[] }>(FIND_KEYS, [row.oid]);
  return {
    ...rest,
    name: `${schema}.${name}`,
    sqlName: `${quoteName(schema)}.${quoteName(name)}`,
    kind: kind === 'r' ? 'table' : kind === 'p' ? 'partitioned' : 'other',
    columns: columns.rows,
    uniqueKeys: keys.rows.map((key) => key.columns),
  };
}

type PublicationRow = Omit<PublicationState, 'entry' | 'membership'>;

const FIND_PUBLICATION = `
  select oid::int8::text as oid, pubname::text as name, pubinsert as inserts, pubupdate as updates, pubdelete as deletes,
         pubtruncate as truncates, pubviaroot as "viaRoot", puballtables as "allTables"
  from pg_publication where pubname = $1`;

/** How the pipeline's publication has the table; null when there is no such publication. */
export async function askPublication(
  sql: pg.Client,
  name: string,
  version: number,
  table: TableState | null,
): Promise<PublicationState | null> {
  const { rows } = await sql.query<PublicationRow>(FIND_PUBLICATION, [name]);
  const [publication] = rows;
  if (publication === undefined) return null;
  if (table === null) return { ...publication, entry: null, membership: '' };
  // Column lists and row filters came with version 15.
  const extra =
    version >= 150_000
      ? 'attnames::text[] as columns, rowfilter as filter'
      : 'null as columns, null as filter';
  const entries = await sql.query<{ columns: string[] | null; filter: string | null }>(
    `select ${extra} from pg_publication_tables where pubname = $1 and schemaname || '.' || tablename = $2`,
    [name, table.name],
  );
  const membership = await sql.query<{ oid: string }>(
    'select oid::int8::text as oid from pg_publication_rel where prpubid = $1::oid and prrelid = $2::oid',
    [publication.oid, table.oid],
  );
  return {
    ...publication,
    entry: entries.rows[0] ?? null,
    membership: membership.rows[0]?.oid ?? '',
  };
}

/** Every publication that has the table or one of its partitions. */
export async function askPublications(sql: pg.Client, table: TableState): Promise<readonly PublishedTable[]> {
  const { rows } = await sql.query<PublishedTable>(
    `select distinct p.pubname::text as name, p.pubupdate as updates, p.pubdelete as deletes
     from pg_publication p join pg_publication_tables t on t.pubname = p.pubname
     where (quote_ident(t.schemaname) || '.' || quote_ident(t.tablename))::regclass in (
       select $1::oid::regclass union select relid from pg_partition_tree($1::oid::regclass))
     order by 1`,
    [table.oid],
  );
  return rows;
}
