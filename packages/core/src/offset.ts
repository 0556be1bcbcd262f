import type { BookmarkStore } from './bookmarks.js';
import type { ControlStore } from './controls.js';
import type { Finding } from './finding.js';
import type { InstanceRegister } from './instances.js';
import type { Position, PositionRange } from './position.js';
import type { SourceIdentity } from './source-identity.js';

/** Where a pipeline stands: what an offset store keeps. */
export interface Offset {
  readonly identity: SourceIdentity;
  /** Everything up to here, inclusive, is settled. */
  readonly watermark: Position;
  /** Settled runs above the watermark, in the source's order. */
  readonly completed: readonly PositionRange[];
  /** Ownership generation: each new owner takes the next one. */
  readonly epoch: number;
  /** Grows by one with each commit of one owner. A commit with an older revision is late, and ignored. */
  readonly revision: number;
  /** When it was saved, ISO 8601 UTC, by the owner's clock. */
  readonly savedAt: string;
}

/** What became of a commit. */
export type CommitResult =
  /** Durably saved, as far as the store can tell. */
  | 'saved'
  /** Saved, over an older epoch or an empty store: the store had lost what it acknowledged before. */
  | 'restored'
  /** Not saved: the store already has this revision or a newer one of the same owner. */
  | 'stale'
  /** Not saved: a newer epoch owns the pipeline. The caller must stop at once. */
  | 'fenced';

/** What the first offset of a pipeline holds. */
export interface OffsetSeed {
  readonly identity: SourceIdentity;
  readonly watermark: Position;
}

/** What an operator puts in place of an offset. */
export interface OffsetChange extends OffsetSeed {
  readonly completed: readonly PositionRange[];
}

/** What an operator has replaced. */
export interface ReplacedOffset {
  /** Null when there was none. */
  readonly offset: OffsetChange | null;
  /** ISO 8601 UTC. */
  readonly replacedAt: string;
}

/**
 * Keeps one offset per pipeline, and what belongs to it: bookmarks, which processes there are, and what operators have
 * ordered. Every implementation passes `test/conformance/offset-store.ts`.
 *
 * Errors: `OFFSETS_UNAVAILABLE` when the store can't be reached or did not answer in time (try again),
 * `OFFSETS_CORRUPT` when what it holds can't be read (stop), `OFFSETS_CONFIG` for wrong options.
 */
export interface OffsetStore {
  /** A short name for logs, without credentials. */
  readonly name: string;
  /** The saved offset, or null when there is none. */
  load(pipeline: string): Promise<Offset | null>;
  /**
   * Takes ownership: raises the epoch by one, atomically, and returns the offset as it is then. A missing
   * offset is created from `seed`; of an existing one only the identity is replaced.
   */
  claim(pipeline: string, seed: OffsetSeed): Promise<Offset>;
  /** Saves all of it or nothing, fenced first by epoch and then by revision. */
  commit(pipeline: string, offset: Offset): Promise<CommitResult>;
  /**
   * Puts what somebody decided in place of the offset that they have read, or, with null, makes the pipeline one that
   * never ran. `changed`, and nothing is done, when it is no longer the one that was read. The next claim gets a higher
   * epoch than any before, and until then every commit is fenced, whatever its epoch: nothing of an owner that still runs
   * gets over it. What was there is kept until the next time.
   */
  replace(pipeline: string, read: Offset | null, by: OffsetChange | null): Promise<'replaced' | 'changed'>;
  /** What the last `replace` has replaced, to put it back; null when there is none. */
  replaced(pipeline: string): Promise<ReplacedOffset | null>;
  readonly bookmarks: BookmarkStore;
  readonly instances: InstanceRegister;
  readonly controls: ControlStore;
  /** How its server is set up, where there is one: what could lose the offset. Errors as above. */
  diagnose?(): Promise<readonly Finding[]>;
  /** Idempotent. Commits that are under way may still fail. */
  close(): Promise<void>;
}
