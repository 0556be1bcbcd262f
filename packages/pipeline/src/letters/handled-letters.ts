import type { DeadLetter, DeadLetterStore, LetterFence, LetterResult } from '@strandline/core';
import type { LettersAtHand } from './letters-at-hand.js';

export interface HandledLettersOptions {
  readonly store: DeadLetterStore;
  readonly fence: LetterFence;
  readonly letters: LettersAtHand;
  /** Milliseconds that a letter that was handled waits at most before that is noted. */
  readonly interval: number;
  readonly fenced: () => void;
}

/**
 * Notes in the table which letters of one key were handled: several at a time, as the offset is saved, for a
 * transaction each would cost more than most handlers. What a crash finds not noted is handled again.
 */
export class HandledLetters {
  readonly #options: HandledLettersOptions;
  #letters: DeadLetter[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The write that is under way, after those before it. */
  #writing: Promise<boolean> = Promise.resolve(true);

  constructor(options: HandledLettersOptions) {
    this.#options = options;
  }

  add(letter: DeadLetter): void {
    this.#letters.push(letter);
    this.#timer ??= setTimeout(() => void this.flush(), this.#options.interval);
  }

  /** Whether all that was added is noted; once it is not, nothing more of the key may be handled. */
  flush(): Promise<boolean> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const letters = this.#letters;
    if (letters.length === 0) return this.#writing;
    this.#letters = [];
    this.#writing = this.#writing.then((ok) => (ok ? this.#write(letters) : false));
    return this.#writing;
  }

  async #write(handled: readonly DeadLetter[]): Promise<boolean> {
    const { store, fence, letters, fenced } = this.#options;
    const result: LetterResult | null = await letters.ask(() => store.handled(fence, handled));
    if (result === 'fenced') fenced();
    return result === 'stored';
  }
}
