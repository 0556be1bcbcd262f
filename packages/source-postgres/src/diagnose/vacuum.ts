import { answerOf, pass, warn, type Check, type Verdict } from '@strandline/core';
import type pg from 'pg';
import { quoteName } from '../quote.js';
import type { PostgresFacts, VacuumState } from './facts.js';

/** Dead rows that no table is small enough to be slowed down by. */
const FEW = 10_000;
/** Dead rows for each live one. */
const MANY = 1;

/** From a queue-like table as much is deleted as is inserted. */
export const VACUUM_CHECKS: readonly Check<PostgresFacts>[] = [
  {
    check: 'postgres-outbox-vacuum',
    why: 'What is deleted stays in the table, and every index, until it is vacuumed: a queue-like table gets slow and large without it.',
    judge: ({ vacuum }: PostgresFacts): Verdict | null => {
      const state = answerOf(vacuum);
      return state === null ? null : vacuumVerdict(state);
    },
  },
];

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

/** What the statistics say of a table; null when there is none. @param name of the config: `schema.table`, or a name alone */
export async function askVacuum(sql: pg.Client, name: string): Promise<VacuumState | null> {
  const table = name.split('.').map(quoteName).join('.');
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

function vacuumVerdict({ table, live, dead, vacuumedAt, off, scaleFactor }: VacuumState): Verdict {
  const bloated = dead > FEW && dead > live * MANY;
  const vacuumed = vacuumedAt === null ? 'never vacuumed' : `last vacuumed ${vacuumedAt}`;
  const found =
    `${table}: ${String(dead)} dead rows, ${String(live)} live ones, ${vacuumed}` +
    (off === null ? `, scale factor ${String(scaleFactor)}` : `; autovacuum is off for the ${off}`);
  if (off !== null) return warn(found, ON[off](table));
  return bloated ? warn(found, often(table)) : pass(found);
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
