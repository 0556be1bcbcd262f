/** Lets the tasks of one name run one after the other; those of different names run side by side. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(name: string, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const run = (before ?? Promise.resolve()).then(task, task);
    this.#last.set(name, run);
    try {
      return await run;
    } finally {
      if (this.#last.get(name) === run) this.#last.delete(name);
    }
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#last.values());
  }
}
