import type { Finding } from '@strandline/core';
import type pg from 'pg';
import { endClient } from '../connection.js';
import { quoteName } from '../quote.js';
import type { SessionRequest } from '../session.js';

/** Dead rows that no table is small enough to be slowed down by. */
const FEW = 10_000;
/** Dead rows for each live one. */
const MANY = 1;

const WHY =
  'What is deleted stays in the table, and every index, until it is vacuumed: a queue-like table gets slow and large without it.';

/** What the statistics say of the outbox table and its partitions. */
export interface VacuumFacts {
  /** `schema.table`, quoted for SQL; of partitions the one with most dead rows. */
  readonly table: string;
  readonly live: number;
  readonly dead: number;
  /** Autovacuum's, or one by hand; null for never. */
  readonly vacuumedAt: string | null;
  /** Autovacuum is off for the server, or for one of the tables. */
  readonly off: 'server' | 'table' | null;
  /** Of a large table so many dead rows in proportion make it be vacuumed. */
  readonly scaleFactor: number;
}

const ASK = `
  select coalesce(sum(s.n_live_tup), 0)::float8 as live, coalesce(sum(s.n_dead_tup), 0)::float8 as dead,
         to_char(max(greatest(s.last_autovacuum, s.last_vacuum)) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as vacuumed_at,
         case when not current_setting('autovacuum')::bool then 'server'
              when not bool_and(coalesce(o.enabled::bool, true)) then 'table' end as off,
         coalesce(max(o.scale::float8), current_setting('autovacuum_vacuum_scale_factor')::float8) as scale,
         (array_agg(format('%I.%I', s.schemaname, s.relname)
                    order by coalesce(o.enabled::bool, true), s.n_dead_tup desc))[1] as "table"
  from pg_class c
  join pg_stat_user_tables s on s.relid = c.oid
  cross join lateral (
    select (select option_value from pg_options_to_table(c.reloptions) where option_name = 'autovacuum_enabled') as enabled,
           (select option_value from pg_options_to_table(c.reloptions) where option_name = 'autovacuum_vacuum_scale_factor') as scale
  ) o
  where c.relkind = 'r'
    and (c.oid = to_regclass($1) or c.oid in (select relid from pg_partition_tree(to_regclass($1)) where isleaf))`;

/** Whether the outbox is vacuumed as a table must be from which as much is deleted as is inserted; nothing where there is no table. */
export async function diagnoseVacuum({
  connector,
  config: { outbox },
}: Pick<SessionRequest, 'connector' | 'config'>): Promise<readonly Finding[]> {
  if (outbox === null) return [];
  const sql = await connector.sql();
  try {
    const facts = await read(sql, outbox.table.split('.').map(quoteName).join('.'));
    return facts === null ? [] : [vacuumFinding(facts)];
  } finally {
    await endClient(sql);
  }
}

async function read(sql: pg.Client, table: string): Promise<VacuumFacts | null> {
  const { rows } = await sql.query<Record<string, unknown>>(ASK, [table]);
  const [row] = rows;
  if (typeof row?.['table'] !== 'string') return null;
  return {
    table: row['table'],
    live: Number(row['live']),
    dead: Number(row['dead']),
    vacuumedAt: typeof row['vacuumed_at'] === 'string' ? row['vacuumed_at'] : null,
    off: row['off'] === 'server' || row['off'] === 'table' ? row['off'] : null,
    scaleFactor: Number(row['scale']),
  };
}

export function vacuumFinding({ table, live, dead, vacuumedAt, off, scaleFactor }: VacuumFacts): Finding {
  const bloated = dead > FEW && dead > live * MANY;
  const result = off !== null || bloated ? 'warn' : 'pass';
  const vacuumed = vacuumedAt === null ? 'never vacuumed' : `last vacuumed ${vacuumedAt}`;
  return {
    check: 'postgres-outbox-vacuum',
    result,
    found:
      `${table}: ${String(dead)} dead rows, ${String(live)} live ones, ${vacuumed}` +
      (off === null ? `, scale factor ${String(scaleFactor)}` : `; autovacuum is off for the ${off}`),
    why: WHY,
    remedy: result === 'pass' ? null : off === null ? often(table) : ON[off](table),
  };
}

const ON: Readonly<Record<'server' | 'table', (table: string) => string>> = {
  server: () => 'alter system set autovacuum = on; select pg_reload_conf();',
  table: (table) => `alter table ${table} reset (autovacuum_enabled);`,
};

/** The table shrinks to next to nothing and grows again, so a share of its rows says little: a number does. */
function often(table: string): string {
  return (
    `alter table ${table} set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, ` +
    `autovacuum_vacuum_cost_delay = 0); vacuum ${table};`
  );
}
