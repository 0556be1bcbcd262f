import type { LogState, Position } from '@strandline/core';
import type pg from 'pg';
import { endClient } from './connection.js';
import { parseLsn } from './lsn.js';
import { bytesBetween, comparePositions, logPosition } from './position.js';
import { openSession, type SessionRequest } from './session.js';
import { flushedEnd } from './wal-end.js';

/** How far the log reaches for the pipeline of this request. Only looks: nothing is created, nothing read from the slot. */
export async function inspectLog(request: SessionRequest): Promise<LogState> {
  const { identity, slot, sql } = await openSession(request, null);
  try {
    const head = logPosition(await flushedEnd(sql), 0);
    return {
      identity,
      head,
      earliest: slot === null ? null : logPosition(slot.confirmed, 0),
      ...(await slotBytes(sql, request.slot)),
      bytesBehind: (position: Position) => bytesBetween(position, head),
      compare: (a, b) => comparePositions(a, b),
    };
  } finally {
    await endClient(sql);
  }
}

/** The server keeps its log from where decoding would start again, which lies before what is confirmed. */
async function slotBytes(
  sql: pg.Client,
  slot: string,
): Promise<Pick<LogState, 'retainedBytes' | 'safeBytes'>> {
  const { rows } = await sql.query<Record<string, string | null>>(
    `select restart_lsn::text as restart, pg_current_wal_lsn()::text as end, safe_wal_size::text as safe
       from pg_replication_slots where slot_name = $1`,
    [slot],
  );
  const [row = {}] = rows;
  const restart = parseLsn(row['restart'] ?? '');
  const end = parseLsn(row['end'] ?? '');
  const safe = row['safe'] ?? null;
  return {
    retainedBytes: restart === null || end === null ? null : Number(end - restart),
    safeBytes: safe === null ? null : Math.max(0, Number(safe)),
  };
}
