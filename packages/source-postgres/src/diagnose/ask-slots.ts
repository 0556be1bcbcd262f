import type pg from 'pg';
import { parseLsn } from '../lsn.js';
import type { SlotsState, SlotState, StandbysState, TransactionsState } from './facts.js';

const COUNTS = `
  select (select count(*) from pg_replication_slots)::int as used,
         (select count(*) from pg_stat_get_wal_senders())::int as senders`;

/** What came with later versions: two_phase with 14, invalidation_reason and failover with 17. */
function slotColumns(version: number): string {
  return version >= 170_000
    ? 's.two_phase as "twoPhase", s.failover, s.invalidation_reason as invalidation'
    : 's.two_phase as "twoPhase", null::boolean as failover, null::text as invalidation';
}

interface SlotRow {
  readonly type: string;
  readonly plugin: string | null;
  readonly database: string | null;
  readonly temporary: boolean;
  readonly twoPhase: boolean;
  readonly failover: boolean | null;
  readonly invalidation: string | null;
  readonly status: string | null;
  readonly confirmed: string | null;
  readonly safe: string | null;
  readonly retained: string | null;
  readonly pid: number | null;
  readonly reader: string | null;
}

export async function askSlots(sql: pg.Client, name: string, version: number): Promise<SlotsState> {
  const counts = await sql.query<{ used: number; senders: number }>(COUNTS);
  const { rows } = await sql.query<SlotRow>(
    `select s.slot_type as type, s.plugin::text, s.database::text, s.temporary, ${slotColumns(version)},
            s.wal_status as status, s.confirmed_flush_lsn::text as confirmed, s.safe_wal_size::text as safe,
            pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end,
                            s.restart_lsn)::text as retained,
            s.active_pid as pid, a.application_name as reader
     from pg_replication_slots s left join pg_stat_activity a on a.pid = s.active_pid where s.slot_name = $1`,
    [name],
  );
  const [row] = rows;
  return {
    used: counts.rows[0]?.used ?? 0,
    senders: counts.rows[0]?.senders ?? 0,
    ours: row === undefined ? null : slotOf(row),
  };
}

function slotOf({ status, confirmed, safe, retained, pid, reader, ...rest }: SlotRow): SlotState {
  return {
    ...rest,
    status: status ?? 'lost',
    confirmed: parseLsn(confirmed ?? '') ?? 0n,
    safeBytes: safe === null ? null : Number(safe),
    retainedBytes: retained === null ? null : Number(retained),
    reader: pid === null ? null : { pid, name: reader },
  };
}

/** Transactions that have changed something and are not decided: decoding must begin before the oldest of them. */
export async function askTransactions(sql: pg.Client): Promise<TransactionsState> {
  const open = await sql.query<{ pid: number; age: number | null }>(
    `select pid, extract(epoch from clock_timestamp() - xact_start)::float8 as age
     from pg_stat_activity where backend_xid is not null and pid <> pg_backend_pid() order by 2 desc nulls last`,
  );
  const prepared = await sql.query<{ gid: string; age: number }>(
    `select gid, extract(epoch from clock_timestamp() - prepared)::float8 as age from pg_prepared_xacts order by 2 desc`,
  );
  return { open: open.rows, prepared: prepared.rows };
}

/** A standby has a physical slot, or a session that reads the log without a logical one. */
export async function askStandbys(sql: pg.Client): Promise<StandbysState> {
  const { rows } = await sql.query<{ count: string }>(
    `select (select count(*) from pg_replication_slots where slot_type = 'physical')
          + (select count(*) from pg_stat_get_wal_senders() w
             where w.pid not in (select active_pid from pg_replication_slots where active_pid is not null)
               and w.pid not in (select pid from pg_stat_activity where datname is not null)) as count`,
  );
  return { count: Number(rows[0]?.count ?? '0') };
}
