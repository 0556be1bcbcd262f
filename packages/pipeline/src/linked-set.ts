/** What can be in one `LinkedSet` at a time. */
export interface Linked<T> {
  older: T | null;
  newer: T | null;
}

/** Members in the order in which they were added. Adding and removing allocate nothing, as those of a Set do. */
export class LinkedSet<T extends Linked<T>> implements Iterable<T> {
  #oldest: T | null = null;
  #newest: T | null = null;

  /** @param member one that is in no set */
  add(member: T): void {
    member.older = this.#newest;
    if (this.#newest === null) this.#oldest = member;
    else this.#newest.newer = member;
    this.#newest = member;
  }

  /** @param member one that is in this set */
  remove(member: T): void {
    const { older, newer } = member;
    if (older === null) this.#oldest = newer;
    else older.newer = newer;
    if (newer === null) this.#newest = older;
    else newer.older = older;
    member.older = null;
    member.newer = null;
  }

  /** From the oldest on. Meanwhile the member at hand may be removed, and no other. */
  *[Symbol.iterator](): Generator<T> {
    for (let member = this.#oldest; member !== null;) {
      const { newer } = member;
      yield member;
      member = newer;
    }
  }
}
