import { IdSet, type Ids } from '@strandline/source-kit';
import type pg from 'pg';
import { unhurried } from './connection.js';
import { Decoder, type DecoderOptions } from './decoder.js';
import { postgresError } from './errors.js';
import { formatLsn } from './lsn.js';
import { quoteName, quoteText } from './quote.js';
import { flushedEnd } from './wal-end.js';

const FETCH = 1_000;

/**
 * The ids of the outbox rows that the slot will deliver, of those that committed up to now. It peeks into the
 * slot and consumes nothing. Needed when an interrupted snapshot is read on: a row that was not in the
 * original snapshot has either been inserted since (the stream delivers it) or updated since (it does not).
 *
 * The session must be in the snapshot with which the rows are read on. Throws `PG_SNAPSHOT_STALE` when the ids are more
 * than can be kept.
 */
export async function insertedSince(
  sql: pg.Client,
  slot: string,
  publication: string,
  options: DecoderOptions,
  ids = new IdSet(),
): Promise<Ids> {
  const decoder = new Decoder(
    options,
    {
      event: (event) => {
        if (!ids.add(event.id)) throw tooMany(slot);
      },
      passed: () => undefined,
    },
    { lsn: 0n, ordinal: 0 },
  );
  const upTo = await flushedEnd(sql);
  const peek =
    `pg_logical_slot_peek_binary_changes(${quoteText(slot)}, ${quoteText(formatLsn(upTo))}, null, ` +
    `'proto_version', '1', 'publication_names', ${quoteText(quoteName(publication))})`;
  await sql.query(`declare strandline_peek no scroll cursor for select data from ${peek}`);
  const fetch = `fetch ${String(FETCH)} from strandline_peek`;
  // The first one decodes all of it.
  let { rows } = await sql.query<{ data: Buffer }>(unhurried(fetch));
  while (rows.length > 0) {
    for (const { data } of rows) decoder.decode(data);
    ({ rows } = await sql.query<{ data: Buffer }>(fetch));
  }
  await sql.query('close strandline_peek');
  return ids;
}

function tooMany(slot: string): Error {
  return postgresError(
    'PG_SNAPSHOT_STALE',
    `Since the start snapshot of the slot ${slot} was taken, more rows were inserted than can be kept in mind to read it on.`,
    "Drop the slot and start under a new pipeline name with start: 'snapshot' to take it again: what was handled of it comes again.",
  );
}
