import type { ServerLoad } from '@strandline/core';
import type pg from 'pg';
import { postgresError } from '../errors.js';

/** Our own sessions and readers: a pipeline confirms what it has settled, and later where it keeps log for replays. */
const OURS = "application_name like 'strandline/%'";

const ACTIVE = `
  select count(*)::int as active from pg_stat_activity
  where backend_type = 'client backend' and state = 'active' and pid <> pg_backend_pid() and not ${OURS}`;

/** Standbys, and logical subscribers; a base backup replays nothing. */
const REPLICAS = `
  select application_name as name, state, (extract(epoch from replay_lag) * 1000)::float8 as time,
         pg_wal_lsn_diff(pg_current_wal_lsn(), coalesce(replay_lsn, flush_lsn, write_lsn))::float8 as bytes
  from pg_stat_replication
  where (state is null or state in ('streaming', 'catchup')) and not coalesce(${OURS}, false)`;

interface ReplicaRow {
  readonly name: string | null;
  readonly state: string | null;
  readonly time: number | null;
  readonly bytes: number | null;
}

/** Throws `PG_PRUNE_PRIVILEGE` when there are replicas and this user may not see how far they are. */
export async function serverLoad(sql: pg.Client, user: string): Promise<ServerLoad> {
  const active = await sql.query<{ active: number }>(ACTIVE);
  const { rows } = await sql.query<ReplicaRow>(REPLICAS);
  if (rows.some(({ state }) => state === null)) {
    throw postgresError(
      'PG_PRUNE_PRIVILEGE',
      'There are replicas, and this user may not see how far they are.',
      `Run: grant pg_read_all_stats to ${user};`,
    );
  }
  return {
    active: active.rows[0]?.active ?? 0,
    replicas: rows.map(({ name, time, bytes }) => ({
      name: name === null || name === '' ? 'replica' : name,
      // The last lag that was seen stays for a while behind a replica that has everything.
      time: bytes === 0 ? 0 : time,
      bytes,
    })),
  };
}
