import { StrandlineError, type Logger } from '@strandline/core';
import { errorFields } from '../error-fields.js';
import { pause } from '../pause.js';

/** Milliseconds between attempts while the database of the letters is away; the last one repeats. */
const DELAYS = [100, 200, 500, 1_000, 2_000, 5_000];

export interface LettersAtHandOptions {
  readonly log: Logger;
  /** The store is beyond repair: the run is over. */
  readonly failed: (error: unknown) => void;
}

/** Asks the dead-letter store until it answers: what it is to keep is held meanwhile, and that is said once. */
export class LettersAtHand {
  readonly #options: LettersAtHandOptions;
  readonly #closing = new AbortController();
  #available = true;

  constructor(options: LettersAtHandOptions) {
    this.#options = options;
  }

  get available(): boolean {
    return this.#available;
  }

  /** The answer; null when the run ends and there is none. */
  async ask<T>(question: () => Promise<T>): Promise<T | null> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const answer = await question();
        this.#becomeAvailable();
        return answer;
      } catch (error) {
        if (!(error instanceof StrandlineError) || !error.transient) {
          this.#options.failed(error);
          return null;
        }
        this.#becomeAway(error);
        if (this.#closing.signal.aborted) return null;
        await pause(DELAYS[Math.min(attempt, DELAYS.length - 1)] ?? 0, this.#closing.signal);
      }
    }
  }

  /** From now on everything is asked once. */
  stopRetrying(): void {
    this.#closing.abort();
  }

  #becomeAvailable(): void {
    if (!this.#available) this.#options.log.info({}, 'the dead-letter table is back');
    this.#available = true;
  }

  #becomeAway(error: unknown): void {
    if (this.#available) {
      this.#options.log.warn(
        { err: errorFields(error) },
        'the dead-letter table is away: keys that need it hold their events; other keys go on',
      );
    }
    this.#available = false;
  }
}
