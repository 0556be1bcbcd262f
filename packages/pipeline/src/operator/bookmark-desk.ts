import type { Bookmark } from '@strandline/core';
import { pipelineError } from '../errors.js';
import type { LogPlace } from '../replay/options.js';
import { inspect, locate } from './located.js';
import type { DeskParts } from './parts.js';
import { reachOf, UNKNOWN, type Reach } from './reach.js';

const NAME = /^[A-Za-z0-9._-]{1,100}$/;
/** Names that would be taken for something else where a place of the log is asked for. */
const TAKEN = /^(now|earliest|\d{4}-\d{2}-\d{2}T.*)$/;

/** A bookmark, and the log behind it: what it takes to have it reachable. */
export type BookmarkView = Bookmark & Reach;

/**
 * The bookmarks of a pipeline, for an operator: from any process that has the pipeline's definition, whether it runs or
 * not. Errors: those of the offset store, and those named below.
 */
export interface BookmarkDesk {
  /**
   * Names a position of the log; `now` is its end, so that what commits from now on lies after the bookmark. Throws
   * `PIPELINE_BOOKMARK` when the name is not 1 to 100 of letters, digits, dot, dash and underscore, or there is one of
   * that name, `PIPELINE_POSITION` for what the log does not reach, and what the source throws.
   */
  create(name: string, at?: LogPlace | 'earliest' | 'now'): Promise<Bookmark>;
  /** By name, in order. */
  list(): Promise<readonly BookmarkView[]>;
  show(name: string): Promise<BookmarkView | null>;
  /** Whether there was one. */
  delete(name: string): Promise<boolean>;
}

export class NamedBookmarkDesk implements BookmarkDesk {
  readonly #parts: DeskParts;

  constructor(parts: DeskParts) {
    this.#parts = parts;
  }

  async create(name: string, at: LogPlace | 'earliest' | 'now' = 'now'): Promise<Bookmark> {
    if (!NAME.test(name) || TAKEN.test(name)) throw badName(name);
    const { name: pipeline, offsets } = this.#parts;
    const state = await inspect(this.#parts);
    const { position, identity } = await locate(at, state, this.#parts);
    const createdAt = new Date().toISOString();
    const bookmark = { name, position, identity, committedAt: null, createdAt };
    if ((await offsets.bookmarks.create(pipeline, bookmark)) === 'created') return bookmark;
    throw pipelineError(
      'PIPELINE_BOOKMARK',
      `The pipeline ${pipeline} has a bookmark by the name ${name}: it stays as it is.`,
      'Choose another name, or delete that one first.',
    );
  }

  async list(): Promise<readonly BookmarkView[]> {
    return this.#viewsOf(await this.#parts.offsets.bookmarks.list(this.#parts.name));
  }

  async show(name: string): Promise<BookmarkView | null> {
    if (!NAME.test(name)) return null;
    const bookmark = await this.#parts.offsets.bookmarks.get(this.#parts.name, name);
    const [view = null] = await this.#viewsOf(bookmark === null ? [] : [bookmark]);
    return view;
  }

  /** A log that can't be looked at now keeps nobody from seeing the bookmarks. */
  async #viewsOf(bookmarks: readonly Bookmark[]): Promise<BookmarkView[]> {
    const state = bookmarks.length === 0 ? null : await inspect(this.#parts).catch(() => null);
    return bookmarks.map((bookmark) => ({
      ...bookmark,
      ...(state === null ? UNKNOWN : reachOf(bookmark.position, state)),
    }));
  }

  async delete(name: string): Promise<boolean> {
    return NAME.test(name) && this.#parts.offsets.bookmarks.delete(this.#parts.name, name);
  }
}

function badName(name: string): Error {
  const problem = TAKEN.test(name) ? 'means something else' : 'is not 1 to 100 of letters, digits, . - and _';
  return pipelineError(
    'PIPELINE_BOOKMARK',
    `${JSON.stringify(name.slice(0, 200))} can't be the name of a bookmark: it ${problem}.`,
    'Choose another name.',
  );
}
