import type { Asked } from '@strandline/core';

/** What is to be said of a question that failed. */
export type Explain = (error: unknown) => { readonly unasked: string; readonly remedy: string };

/** Milliseconds that all questions of one look at a server may take. Each of them has the server's own limit besides. */
const ALL = 8_000;

/** Milliseconds that the server may work on one question of it. */
export const QUESTION_LIMIT = 2_500;

const LATE = {
  unasked: 'the server has not answered in time',
  remedy: 'Look at its load, and at the network between; then ask again.',
};

/** Asks a server what it is; a question that fails, or has no answer in time, leaves the others alone. */
export class Asking {
  readonly #explain: Explain;
  readonly #endsAt = performance.now() + ALL;

  constructor(explain: Explain) {
    this.#explain = explain;
  }

  async ask<T>(question: () => Promise<T>): Promise<Asked<T>> {
    const left = this.#endsAt - performance.now();
    if (left <= 0) return LATE;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Asked<T>>((resolve) => {
      timer = setTimeout(() => {
        resolve(LATE);
      }, left);
    });
    const answered = question().then(
      (answer): Asked<T> => ({ answer }),
      (error: unknown): Asked<T> => this.#explain(error),
    );
    try {
      return await Promise.race([answered, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A question for which another one has to be answered first. */
export function unlessUnasked<T, U>(
  first: Asked<T>,
  question: (answer: T) => Promise<Asked<U>>,
): Promise<Asked<U>> {
  return 'answer' in first ? question(first.answer) : Promise.resolve(first);
}
