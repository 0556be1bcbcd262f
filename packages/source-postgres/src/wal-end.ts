import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { parseLsn, type Lsn } from './lsn.js';

const WAL_PAGE = 8_192n;
/** SizeOfXLogLongPHD. */
const LONGEST_PAGE_HEADER = 40n;

/** Milliseconds between looks. */
const LOOK_EVERY = 20;

interface WalEnds {
  readonly inserted: Lsn;
  readonly flushed: Lsn;
  /** Milliseconds by which what a commit with synchronous_commit off has written is on disk. */
  readonly patience: number;
}

/**
 * An LSN that everything visible now lies before, once it is on disk: with synchronous_commit off a
 * transaction is visible up to three wal_writer_delays before decoding can see it. What isn't on disk by then is no
 * commit, and on an idle server may stay in memory for long.
 */
export async function flushedEnd(sql: pg.Client): Promise<Lsn> {
  const { inserted: end, patience } = await walEnds(sql);
  for (const giveUpAt = performance.now() + patience; ;) {
    // In this order: it was flushed up to there when there was patience left.
    const late = performance.now() > giveUpAt;
    const { flushed } = await walEnds(sql);
    if (flushed >= end) return end;
    // At the start of a page the insert position is already past the page's header, where nothing is to flush.
    if (late || (flushed % WAL_PAGE === 0n && end - flushed <= LONGEST_PAGE_HEADER)) return flushed;
    await sleep(LOOK_EVERY);
  }
}

async function walEnds(sql: pg.Client): Promise<WalEnds> {
  const { rows } = await sql.query<Record<string, string>>(
    `select pg_current_wal_insert_lsn()::text as inserted, pg_current_wal_flush_lsn()::text as flushed,
            (select setting from pg_settings where name = 'wal_writer_delay') as delay`,
  );
  const { inserted = '', flushed = '', delay = '' } = rows[0] ?? {};
  return {
    inserted: parseLsn(inserted) ?? 0n,
    flushed: parseLsn(flushed) ?? 0n,
    patience: 3 * Number(delay) + WRITER_LATENESS,
  };
}

/** Milliseconds that the WAL writer of a busy machine may be late. */
const WRITER_LATENESS = 1_000;
