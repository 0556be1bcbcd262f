import type { LogState, Offset, OffsetChange, Position, PositionRange } from '@strandline/core';
import { order } from './parts.js';

/** What a change of an offset does. */
export interface OffsetMove {
  /** Where the pipeline stands; null when it has no offset. */
  readonly from: Position | null;
  /** Where it stands after that; null when it has no offset then, and begins like one that never ran. */
  readonly to: Position | null;
  /**
   * `back`: everything after the new position is delivered again. `forward`: what lies between and was not handled is
   * skipped. `none`: neither. Null when it can't be told: there is no offset, or one of another log.
   */
  readonly direction: 'back' | 'forward' | 'none' | null;
  /** Bytes of log between the two; null when it can't be told. */
  readonly bytes: number | null;
}

export function moveOf(read: Offset | null, to: OffsetChange | null, state: LogState | null): OffsetMove {
  const move = { from: read?.watermark ?? null, to: to?.watermark ?? null };
  if (read === null || to === null || state === null) return { ...move, direction: null, bytes: null };
  const found = order(state, to.watermark, read.watermark);
  if (found === null) return { ...move, direction: null, bytes: null };
  const direction = found === 0 ? 'none' : found < 0 ? 'back' : 'forward';
  return { ...move, direction, bytes: bytesBetween(read.watermark, to.watermark, state) };
}

/**
 * What of the completed runs stays when the watermark is set to a position. Further on, what was handled above it need
 * not be handled again. Back, all of it is what somebody wants to be handled again.
 */
export function completedAbove(
  read: Offset | null,
  position: Position,
  state: LogState,
): readonly PositionRange[] {
  if (read === null) return [];
  const moved = order(state, position, read.watermark);
  if (moved === null || moved < 0) return [];
  return read.completed.filter(({ last }) => (order(state, last, position) ?? 0) > 0);
}

function bytesBetween(a: Position, b: Position, state: LogState): number | null {
  const [first, second] = [state.bytesBehind(a), state.bytesBehind(b)];
  return first === null || second === null ? null : Math.abs(first - second);
}
