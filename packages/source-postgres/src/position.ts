import type { Position } from '@strandline/core';
import { parseSnapshotPosition, type SnapshotPosition } from '@strandline/source-kit';
import { postgresError } from './errors.js';
import { formatLsn, parseLsn, type Lsn } from './lsn.js';

/**
 * Positions of this source, as text:
 *
 *     16/B374D848:3          the 3rd watched row of the transaction whose commit record starts at 16/B374D848
 *     16/B374D900:0          everything that committed before 16/B374D900
 *     snapshot:start         nothing of the start snapshot yet
 *     snapshot:["7","42"]    the row of the start snapshot with these order values
 *
 * A commit record starts at or after the end of the one before it, so (start of the commit record, ordinal)
 * grows in commit order. A row's own LSN does not, nor does an id: neither is part of a position.
 */
export type PostgresPosition =
  { readonly kind: 'log'; readonly lsn: Lsn; readonly ordinal: number } | SnapshotPosition;

export function logPosition(lsn: Lsn, ordinal: number): Position {
  return `${formatLsn(lsn)}:${String(ordinal)}`;
}

/** Reads a position; throws `PG_POSITION` for text that this source did not write. */
export function parsePosition(text: Position): PostgresPosition {
  const snapshot = parseSnapshotPosition(text);
  if (snapshot !== null) return snapshot;
  const colon = text.lastIndexOf(':');
  const lsn = parseLsn(text.slice(0, colon));
  const ordinal = /^\d+$/.test(text.slice(colon + 1)) ? Number(text.slice(colon + 1)) : NaN;
  if (colon < 0 || lsn === null || !Number.isSafeInteger(ordinal)) {
    throw postgresError(
      'PG_POSITION',
      `${JSON.stringify(text)} is not a Postgres position.`,
      'A position looks like 16/B374D848:3. If the saved offset holds this, it was written by something else.',
    );
  }
  return { kind: 'log', lsn, ordinal };
}

/** Orders two places in the log. */
export function compareLog(
  a: { readonly lsn: Lsn; readonly ordinal: number },
  b: { readonly lsn: Lsn; readonly ordinal: number },
): number {
  if (a.lsn !== b.lsn) return a.lsn < b.lsn ? -1 : 1;
  return a.ordinal - b.ordinal;
}
