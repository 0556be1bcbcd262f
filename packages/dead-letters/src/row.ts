import type { Row } from './dialect.js';
import { fromStored } from './text.js';

/** A column that holds what was stored with `toStored`. */
export function textOf(row: Row, column: string): string {
  return fromStored(String(row[column]));
}

export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : textOf(row, column);
}

/** bigint comes as text from both libraries; ours stay below 2^53. */
export function integerOf(row: Row, column: string): number {
  return Number(row[column]);
}
