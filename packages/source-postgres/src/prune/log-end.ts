import type { Position } from '@strandline/core';
import type pg from 'pg';
import { parseLsn, type Lsn } from '../lsn.js';
import { logPosition } from '../position.js';

const WAL_PAGE = 8_192n;
/** SizeOfXLogLongPHD. */
const LONGEST_PAGE_HEADER = 40n;

/**
 * A place that the commit record of everything visible so far begins before: it is written before its transaction is seen.
 *
 * At the start of a page the server names a place behind the page's header, which a reader of the log hears of only with
 * the next record. No record begins in the header, so the start of the page says the same.
 */
export function placeOfEnd(inserted: Lsn): Lsn {
  const header = inserted % WAL_PAGE;
  return header <= LONGEST_PAGE_HEADER ? inserted - header : inserted;
}

/**
 * Readers hear of the log up to what is on disk. With synchronous_commit off, or where a read has left hints, the last of it
 * can stay in memory until somebody commits: so we do, with a record that nobody reads.
 */
export async function logEnd(sql: pg.Client): Promise<Position> {
  const { rows } = await sql.query<{ inserted: string; flushed: string }>(
    'select pg_current_wal_insert_lsn()::text as inserted, pg_current_wal_flush_lsn()::text as flushed',
  );
  const end = placeOfEnd(parseLsn(rows[0]?.inserted ?? '') ?? 0n);
  const flushed = parseLsn(rows[0]?.flushed ?? '') ?? 0n;
  if (flushed < end) await sql.query("select pg_logical_emit_message(true, 'strandline', '')");
  return logPosition(end, 0);
}
