import type { PauseReason } from '../pause-reason.js';
import type { Term } from '../term.js';
import { tell } from './channels.js';

/** Why the log of a run is not being read on, and since when. */
export class Pauses {
  readonly #term: Term;
  #lacking: Exclude<PauseReason, 'operator'> | null = null;
  #ordered = false;
  #reason: PauseReason | null = null;
  #began = 0;

  constructor(term: Term) {
    this.#term = term;
  }

  /** An operator's order comes before what is lacking. */
  get reason(): PauseReason | null {
    return this.#reason;
  }

  /** What stands against reading on, whatever is ordered. */
  get lacking(): PauseReason | null {
    return this.#lacking;
  }

  lacks(what: Exclude<PauseReason, 'operator'> | null): void {
    this.#lacking = what;
    this.#become(this.#ordered ? 'operator' : what);
  }

  /** An operator has paused the pipeline, or has let it go on. */
  ordered(paused: boolean): void {
    this.#ordered = paused;
    this.#become(paused ? 'operator' : this.#lacking);
  }

  /** The one setter of the reason. */
  #become(next: PauseReason | null): void {
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
