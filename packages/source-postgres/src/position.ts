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

/**
 * Orders two positions. The start snapshot comes before the log.
 *
 * @param inSnapshot orders two that lie in it: only the server can, so only who reads it knows
 */
export function comparePositions(
  a: Position,
  b: Position,
  inSnapshot: (a: Position, b: Position) => number = () => 0,
): number {
  const left = parsePosition(a);
  const right = parsePosition(b);
  if (left.kind === 'log' && right.kind === 'log') return compareLog(left, right);
  if (left.kind !== right.kind) return left.kind === 'snapshot' ? -1 : 1;
  return inSnapshot(a, b);
}

/** Bytes of log from one position to a later one, 0 to an earlier one; null where one of them lies in the start snapshot. */
export function bytesBetween(a: Position, b: Position): number | null {
  const from = parsePosition(a);
  const to = parsePosition(b);
  if (from.kind !== 'log' || to.kind !== 'log') return null;
  return to.lsn > from.lsn ? Number(to.lsn - from.lsn) : 0;
}

/** Orders two places in the log. */
export function compareLog(
  a: { readonly lsn: Lsn; readonly ordinal: number },
  b: { readonly lsn: Lsn; readonly ordinal: number },
): number {
  if (a.lsn !== b.lsn) return a.lsn < b.lsn ? -1 : 1;
  return a.ordinal - b.ordinal;
}
