import type pg from 'pg';
import type { TableFacts } from '../outbox-table.js';
import { markOf } from './partitions.js';

/** Tables that have rows in common with the outbox, or may have had. */
export interface Family {
  readonly names: ReadonlySet<string>;
  readonly oids: ReadonlySet<string>;
}

const FIND = `
  with family as (
    select relid::oid as oid from pg_partition_tree(coalesce(pg_partition_root($1::oid::regclass), $1::oid::regclass))
    union select d.objoid from pg_description d
    where d.classoid = 'pg_class'::regclass and d.objsubid = 0 and d.description = $2
  )
  select n.nspname || '.' || c.relname as name, c.oid::text as oid
  from family join pg_class c on c.oid = family.oid join pg_namespace n on n.oid = c.relnamespace`;

/**
 * The outbox with all that it is a partition of, all partitions of that, and what was set aside: a pipeline can read
 * any of them, and its rows are those of the outbox.
 */
export async function findFamily(sql: pg.Client, table: TableFacts): Promise<Family> {
  const { rows } = await sql.query<{ name: string; oid: string }>(FIND, [table.oid, markOf(table)]);
  return {
    names: new Set([table.name, ...rows.map(({ name }) => name)]),
    oids: new Set([String(table.oid), ...rows.map(({ oid }) => oid)]),
  };
}
