import { SNAPSHOT_PREFIX, type Position } from '@strandline/core';

/** Nothing of the start snapshot yet. */
export const SNAPSHOT_START: Position = 'snapshot:start';

/** The position of a row of the start snapshot: its order values, which only the server can compare. */
export function snapshotPosition(row: readonly string[]): Position {
  return SNAPSHOT_PREFIX + JSON.stringify(row);
}

/** A place in the start snapshot; `row` is null before the first row. */
export interface SnapshotPosition {
  readonly kind: 'snapshot';
  readonly row: readonly string[] | null;
}

/** Reads a position of the start snapshot; null for any other text. */
export function parseSnapshotPosition(text: Position): SnapshotPosition | null {
  if (text === SNAPSHOT_START) return { kind: 'snapshot', row: null };
  if (!text.startsWith(SNAPSHOT_PREFIX)) return null;
  try {
    const row: unknown = JSON.parse(text.slice(SNAPSHOT_PREFIX.length));
    const isRow = Array.isArray(row) && row.every((value) => typeof value === 'string');
    return isRow ? { kind: 'snapshot', row } : null;
  } catch {
    return null;
  }
}
