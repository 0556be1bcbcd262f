import type { LogState, Position } from '@strandline/core';
import { order } from './parts.js';

/** What is between a position and the end of its log. */
export interface Reach {
  /** Bytes of log from the position to the end; null when it can't be told. */
  readonly bytes: number | null;
  /** Whether the log still has what follows the position; null when it can't be told. */
  readonly reachable: boolean | null;
}

export const UNKNOWN: Reach = { bytes: null, reachable: null };

export function reachOf(position: Position, state: LogState): Reach {
  const { head, earliest } = state;
  const fromHead = order(state, position, head);
  if (fromHead === null) return UNKNOWN;
  const fromEarliest = earliest === null ? -1 : order(state, position, earliest);
  const reachable = fromEarliest === null ? null : fromEarliest >= 0 && fromHead <= 0;
  return { bytes: state.bytesBehind(position), reachable };
}
