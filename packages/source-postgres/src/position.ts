import type { Position } from '@strandline/core';
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
  | { readonly kind: 'log'; readonly lsn: Lsn; readonly ordinal: number }
  | { readonly kind: 'snapshot'; /** null: before the first row. */ readonly row: readonly string[] | null };

export const SNAPSHOT_START: Position = 'snapshot:start';

const SNAPSHOT_PREFIX = 'snapshot:';

export function logPosition(lsn: Lsn, ordinal: number): Position {
  return `${formatLsn(lsn)}:${String(ordinal)}`;
}

export function snapshotPosition(row: readonly string[]): Position {
  return SNAPSHOT_PREFIX + JSON.stringify(row);
}

/** Reads a position; throws `PG_POSITION` for text that this source did not write. */
export function parsePosition(text: Position): PostgresPosition {
  if (text === SNAPSHOT_START) return { kind: 'snapshot', row: null };
  if (text.startsWith(SNAPSHOT_PREFIX)) {
    const row = parseRow(text.slice(SNAPSHOT_PREFIX.length));
    if (row !== null) return { kind: 'snapshot', row };
  }
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

function parseRow(json: string): string[] | null {
  try {
    const row: unknown = JSON.parse(json);
    return Array.isArray(row) && row.every((value) => typeof value === 'string') ? row : null;
  } catch {
    return null;
  }
}

/** Orders two places in the log. */
export function compareLog(
  a: { readonly lsn: Lsn; readonly ordinal: number },
  b: { readonly lsn: Lsn; readonly ordinal: number },
): number {
  if (a.lsn !== b.lsn) return a.lsn < b.lsn ? -1 : 1;
  return a.ordinal - b.ordinal;
}
