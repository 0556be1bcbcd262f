import type { CallEntry } from './call-entry.js';
import type { JudgeOptions } from './judgement.js';

/**
 * A stretch in which one life calls and no other one calls between: a term of ownership, as far as calls can tell. A
 * life can have several; each may begin again with what its predecessors have handled.
 */
export interface Term {
  readonly run: number;
}

/** A life that calls again although another one has taken over. */
export interface Usurpation {
  readonly lastOfOther: CallEntry;
}

/** The lives of the pipeline in the order of their calls. */
export class Lives {
  readonly #options: JudgeOptions;
  readonly #lastStarts = new Map<number, CallEntry>();
  #term: Term | null = null;

  constructor(options: JudgeOptions) {
    this.#options = options;
  }

  /** Takes a start in; tells the term that it belongs to. */
  start(call: CallEntry): { readonly term: Term; readonly usurpation: Usurpation | null } {
    const usurpation = this.#usurpationOf(call);
    if (this.#term?.run !== call.run) this.#term = { run: call.run };
    this.#lastStarts.set(call.run, call);
    return { term: this.#term, usurpation };
  }

  /** Whether the life was over when this entry was written. */
  wasOver(run: number, at: CallEntry): boolean {
    return (this.#options.ended?.get(run) ?? Infinity) <= at.at;
  }

  /** Whether the life was paused while the call was in flight and before the entry was written. */
  wasPaused(call: CallEntry, before: CallEntry): boolean {
    return this.#pauses(call.run).some((moment) => moment >= call.at && moment <= before.at);
  }

  /** Whether all that this life had settled was saved when the entry was written. */
  hadSaved(run: number, at: CallEntry): boolean {
    const { stopped } = this.#options;
    return stopped?.has(run) === true && this.wasOver(run, at) && this.#pauses(run).length === 0;
  }

  /** Only a life that was paused is known not to own the log any more as soon as another one calls. */
  #usurpationOf(call: CallEntry): Usurpation | null {
    const own = this.#lastStarts.get(call.run);
    const lastOfOther = this.#term === null ? undefined : this.#lastStarts.get(this.#term.run);
    if (own === undefined || lastOfOther === undefined || lastOfOther.run === call.run) return null;
    const wasReplaced = this.#pauses(call.run).some((at) => at >= own.at && at <= lastOfOther.at);
    const otherIsOut = this.wasOver(lastOfOther.run, call) || this.wasPaused(lastOfOther, call);
    return wasReplaced && !otherIsOut ? { lastOfOther } : null;
  }

  #pauses(run: number): readonly number[] {
    return this.#options.paused?.get(run) ?? [];
  }
}
