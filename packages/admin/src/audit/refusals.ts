import type { Logger } from '@strandline/core';
import type { Refusal } from '../guard/access.js';

/** Milliseconds between lines about refusals of one kind: who is refused may ask as often as they like. */
const EVERY = 10_000;

/**
 * Requests that were not let in: a line of the log for the first of each kind, and how many there were since then with the
 * next one. They are in no list that is kept, for whoever is not let in must not push out what was done.
 */
export class Refusals {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #last = new Map<Refusal['code'], { at: number; untold: number }>();

  constructor(log: Logger, now = (): number => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  tell(code: Refusal['code'], method: string, from: string): void {
    const now = this.#now();
    const last = this.#last.get(code);
    if (last !== undefined && now - last.at < EVERY) {
      last.untold += 1;
      return;
    }
    this.#last.set(code, { at: now, untold: 0 });
    this.#log.warn({ code, method, from, untold: last?.untold ?? 0 }, 'audit: a request was refused');
  }
}
