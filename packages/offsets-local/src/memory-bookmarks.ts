import type { Bookmark, BookmarkStore } from '@strandline/core';
import type { Beside } from './memory-beside.js';

/** Answers unless the store is closed, or the pipeline's name can't be. */
export type Answer = <T>(pipeline: string, work: () => T) => Promise<T>;

export class MemoryBookmarks implements BookmarkStore {
  readonly #answer: Answer;
  readonly #all: Beside['bookmarks'];

  constructor(answer: Answer, { bookmarks }: Beside) {
    this.#answer = answer;
    this.#all = bookmarks;
  }

  list(pipeline: string): Promise<readonly Bookmark[]> {
    return this.#answer(pipeline, () =>
      [...this.#of(pipeline).values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    );
  }

  get(pipeline: string, name: string): Promise<Bookmark | null> {
    return this.#answer(pipeline, () => this.#of(pipeline).get(name) ?? null);
  }

  create(pipeline: string, bookmark: Bookmark): Promise<'created' | 'exists'> {
    return this.#answer(pipeline, () => {
      const held = this.#of(pipeline);
      if (held.has(bookmark.name)) return 'exists';
      held.set(bookmark.name, structuredClone(bookmark));
      this.#all.set(pipeline, held);
      return 'created';
    });
  }

  delete(pipeline: string, name: string): Promise<boolean> {
    return this.#answer(pipeline, () => this.#of(pipeline).delete(name));
  }

  #of(pipeline: string): Map<string, Bookmark> {
    return this.#all.get(pipeline) ?? new Map<string, Bookmark>();
  }
}
