import type { PauseReason } from '../pause-reason.js';
import type { Term } from '../term.js';
import { tell } from './channels.js';

/** Why the log of a run is not being read on, and since when. */
export class Pauses {
  readonly #term: Term;
  #reason: PauseReason | null = null;
  #began = 0;

  constructor(term: Term) {
    this.#term = term;
  }

  get reason(): PauseReason | null {
    return this.#reason;
  }

  /** The one setter of the reason. */
  become(next: PauseReason | null): void {
    const before = this.#reason;
    if (next === before) return;
    this.#reason = next;
    const { ledger, whose } = this.#term;
    ledger.pause(next);
    const now = performance.now();
    const duration = (now - this.#began) / 1_000;
    this.#began = now;
    if (before !== null) tell('strandline:pause:end', () => ({ ...whose, reason: before, duration }));
    if (next !== null) tell('strandline:pause:begin', () => ({ ...whose, reason: next }));
  }
}
