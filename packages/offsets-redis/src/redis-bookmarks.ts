import type { Bookmark, BookmarkStore } from '@strandline/core';
import type { Calls } from './calls.js';
import { decodeBookmark, encodeBookmark } from './bookmark-record.js';
import { createBookmarkScript, deleteBookmarkScript } from './bookmark-scripts.js';

/** A field per bookmark in one hash per pipeline. */
export class RedisBookmarks implements BookmarkStore {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  async list(pipeline: string): Promise<readonly Bookmark[]> {
    const key = this.#calls.keyOf(pipeline, 'bookmarks');
    const held = Object.entries(await this.#calls.hash(key));
    return held
      .map(([name, text]) => decodeBookmark(name, text, key, this.#calls.name))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async get(pipeline: string, name: string): Promise<Bookmark | null> {
    const key = this.#calls.keyOf(pipeline, 'bookmarks');
    const text = new Map(Object.entries(await this.#calls.hash(key))).get(name);
    return text === undefined ? null : decodeBookmark(name, text, key, this.#calls.name);
  }

  async create(pipeline: string, bookmark: Bookmark): Promise<'created' | 'exists'> {
    const [result] = await this.#calls.run({
      script: createBookmarkScript,
      key: this.#calls.keyOf(pipeline, 'bookmarks'),
      args: [bookmark.name, encodeBookmark(bookmark)],
    });
    return result as 'created' | 'exists';
  }

  async delete(pipeline: string, name: string): Promise<boolean> {
    const [result] = await this.#calls.run({
      script: deleteBookmarkScript,
      key: this.#calls.keyOf(pipeline, 'bookmarks'),
      args: [name],
    });
    return result === 'deleted';
  }
}
