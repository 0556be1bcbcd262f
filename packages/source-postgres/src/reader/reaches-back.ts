import type pg from 'pg';
import { parseLsn, type Lsn } from '../lsn.js';
import { toPostgresMicros } from '../timestamps.js';

/** The server notes whole seconds, and a moment before the place that belongs to them. */
const UNCERTAINTY = 2_000_000n;

/**
 * Whether the log from `begins` on has everything that committed at this time or later. Only a checkpoint ties a place
 * of the log to a time, and the server tells only of its last one: `unknown` is what lies on the other side of both.
 *
 * @param time microseconds since 2000-01-01 UTC
 */
export async function reachesBackTo(
  sql: pg.Client,
  begins: Lsn,
  time: bigint,
): Promise<'yes' | 'no' | 'unknown'> {
  const { rows } = await sql.query<{ redo: string; seconds: string }>(
    `select redo_lsn::text as redo, extract(epoch from checkpoint_time)::text as seconds from pg_control_checkpoint()`,
  );
  const redo = parseLsn(rows[0]?.redo ?? '');
  if (redo === null) return 'unknown';
  const checkpoint = toPostgresMicros(Number(rows[0]?.seconds) * 1_000);
  if (begins <= redo && checkpoint + UNCERTAINTY <= time) return 'yes';
  return begins >= redo && checkpoint > time ? 'no' : 'unknown';
}
