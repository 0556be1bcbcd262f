import type { Executor } from '@strandline/core';

/** Milliseconds over which rates are taken. */
const SPAN = 10_000;

/** Events per second. */
export interface Rates {
  /** Read from the log, and new. */
  readonly admitted: number;
  readonly settled: number;
}

interface Sample extends Rates {
  readonly at: number;
}

/** Rates from counts that are there anyway, looked at now and then: a report each second keeps eleven samples. */
export class RateMeter {
  #executor: Executor | null = null;
  #samples: Sample[] = [];

  /** Null until there is something to compare with. */
  look(executor: Executor, now: number): Rates | null {
    if (executor !== this.#executor) {
      // Counts begin anew with each term of ownership.
      this.#executor = executor;
      this.#samples = [];
    }
    const { settled, unsettled } = executor;
    const sample = { at: now, admitted: settled + unsettled, settled };
    this.#samples = this.#samples.filter(({ at }) => now - at <= SPAN);
    this.#samples.push(sample);
    const [first] = this.#samples;
    if (first === undefined || first === sample || first.at === now) return null;
    const per = (name: keyof Rates): number =>
      Math.round(((sample[name] - first[name]) * 10_000) / (now - first.at)) / 10;
    return { admitted: per('admitted'), settled: per('settled') };
  }
}
