import type { RunningTurn } from '../dispatcher.js';

/** So many of the turns in flight are remembered, the longest-running ones. */
const REMEMBERED = 1_000;

/**
 * How long turns have been running, without a clock per turn: each look remembers which ones it saw. An age is right
 * to one interval between looks, and never too high.
 */
export class TurnAges {
  #seen = new Map<object, number>();

  /** @param turns longest-running first */
  look(turns: Iterable<RunningTurn>, now: number): (turn: RunningTurn) => number {
    const seen = new Map<object, number>();
    for (const { context } of turns) {
      seen.set(context, this.#seen.get(context) ?? now);
      if (seen.size === REMEMBERED) break;
    }
    this.#seen = seen;
    return ({ context }) => now - (seen.get(context) ?? now);
  }
}
