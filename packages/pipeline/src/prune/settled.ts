import type { HeldBack, OutboxPruner, Position } from '@strandline/core';
import { pause } from '../pause.js';
import type { Figures } from './figures.js';
import { missing, type Register } from './register.js';

/** Milliseconds between looks at the offsets, at first and at most. */
const SOONEST = 100;
const LATEST = 5_000;
/** Milliseconds for which a listing names all pipelines. */
const LISTED_FOR = 10_000;

export interface SettledParts {
  readonly pruner: OutboxPruner;
  readonly register: Register;
  /** Pipelines that must be among those that have settled. */
  readonly names: readonly string[];
  readonly figures: Figures;
  /** Milliseconds to wait; Infinity for as long as it takes. */
  readonly patience: number;
  readonly signal: AbortSignal;
}

/** Finds out whether everybody has settled what committed before some end of the log. */
export class Settled {
  readonly #parts: SettledParts;
  #listedAt = -Infinity;

  constructor(parts: SettledParts) {
    this.#parts = parts;
  }

  /** Waits until all have; false when that took too long, or the signal has aborted. */
  async until(end: Position): Promise<boolean> {
    const { patience, signal, figures } = this.#parts;
    const giveUpAt = performance.now() + patience;
    for (let wait = SOONEST; !signal.aborted; wait = Math.min(LATEST, wait * 1.5)) {
      // A pipeline that is new since may be named by a listing only.
      if (
        (await this.#heldBack(end, 'known')).length === 0 &&
        (await this.#heldBack(end, 'all')).length === 0
      )
        return true;
      figures.become('waiting');
      if (performance.now() > giveUpAt) return false;
      await pause(wait, signal);
    }
    return false;
  }

  /**
   * Whether that holds yet: somebody can have set an offset back, or a new pipeline have begun to read the rows.
   *
   * @param afresh asks for new ones however long ago they were last asked for
   */
  async still(end: Position, afresh: boolean): Promise<boolean> {
    const listed = !afresh && performance.now() - this.#listedAt < LISTED_FOR;
    return (await this.#heldBack(end, listed ? 'known' : 'all')).length === 0;
  }

  async #heldBack(end: Position, which: 'known' | 'all'): Promise<readonly HeldBack[]> {
    const { pruner, register, names, figures } = this.#parts;
    // Of what registers while it is listed nothing is known: the time is that before.
    const now = performance.now();
    const found = which === 'all' ? await register.all() : await register.known();
    if (which === 'all') this.#listedAt = now;
    const heldBack = [...missing(names, found, pruner), ...(await pruner.heldBack(end, found, names))];
    figures.set({ heldBack });
    return heldBack;
  }
}
