/** Work that a store has begun and its caller has given up: it is done later, whether anybody waits for it or not. */
export class UnfinishedWork {
  readonly #works = new Set<() => void>();

  /** The returned function does it, unless it was done meanwhile. */
  add(work: () => void): () => void {
    const once = (): void => {
      if (this.#works.delete(once)) work();
    };
    this.#works.add(once);
    return once;
  }

  /** Whoever takes the same lock waits until it is done. */
  finish(): void {
    for (const work of this.#works) work();
  }
}
