import type pg from 'pg';
import { parseLsn, type Lsn } from './lsn.js';

/** How the server's log stands, and what it leaves to a slot. */
export interface WalFacts {
  /** Where it ends now. */
  readonly walEnd: Lsn;
  /** max_slot_wal_keep_size, in bytes; null where it is off. */
  readonly serverLimit: number | null;
  /** Bytes that may still be written before the server takes the slot's log away; null where it has no limit. */
  readonly safe: number | null;
}

export async function walFacts(sql: pg.Client, slot: string): Promise<WalFacts> {
  const { rows } = await sql.query<Record<string, string | null>>(
    `select pg_current_wal_lsn()::text as end,
            pg_size_bytes(current_setting('max_slot_wal_keep_size'))::text as "limit",
            (select safe_wal_size::text from pg_replication_slots where slot_name = $1) as safe`,
    [slot],
  );
  const { end, limit, safe = null } = rows[0] ?? {};
  const serverLimit = Number(limit ?? -1);
  return {
    walEnd: parseLsn(end ?? '') ?? 0n,
    serverLimit: serverLimit < 0 ? null : serverLimit,
    safe: safe === null ? null : Number(safe),
  };
}
