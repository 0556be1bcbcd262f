import type { Position } from './position.js';
import type { SourceIdentity } from './source-identity.js';

/** A named position of a pipeline's log, to replay from or up to. */
export interface Bookmark {
  /** 1 to 100 of letters, digits, dot, dash and underscore. */
  readonly name: string;
  /** Everything up to here, inclusive, comes before the bookmark. */
  readonly position: Position;
  /** The log that the position belongs to. */
  readonly identity: SourceIdentity;
  /** When what lies at the position committed, by the server's clock, ISO 8601 UTC; null while it isn't known. */
  readonly committedAt: string | null;
  /** When the bookmark was made, ISO 8601 UTC. */
  readonly createdAt: string;
}

/** The bookmarks of pipelines. Errors are those of the offset store. */
export interface BookmarkStore {
  /** By name, in order. */
  list(pipeline: string): Promise<readonly Bookmark[]>;
  get(pipeline: string, name: string): Promise<Bookmark | null>;
  /** Stores it unless there is one of that name: then `exists`, and nothing is changed. */
  create(pipeline: string, bookmark: Bookmark): Promise<'created' | 'exists'>;
  /** Whether there was one. */
  delete(pipeline: string, name: string): Promise<boolean>;
}
