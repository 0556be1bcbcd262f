import type { Logger } from './logger.js';
import type { Position } from './position.js';
import type { SourceBatch } from './source-batch.js';
import type { SourceIdentity } from './source-identity.js';

/** From where a log is read again. */
export type LogStart =
  /** After this position of the same log: what lies there itself is not read. */
  | { readonly after: Position; readonly identity: SourceIdentity }
  /** From the first transaction that committed at this time or later; ISO 8601 UTC, by the server's clock. */
  | { readonly time: string }
  /** From the oldest that is still there. */
  | 'earliest'
  /** From what commits from now on. */
  | 'now';

export interface LogReaderRequest {
  /** Whose log: its slot, for instance, is named for it. */
  readonly pipeline: string;
  readonly from: LogStart;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** A part of a log, read beside its owner. Nothing is owned, claimed, confirmed or left behind. */
export interface LogReader extends AsyncDisposable {
  readonly identity: SourceIdentity;
  /** Reading begins after this position. */
  readonly start: Position;
  /**
   * Batches in commit order, as those of the owner. Connection losses are healed inside where the log still has what
   * follows; it throws a StrandlineError otherwise. Waits for more at the end of the log.
   */
  read(): AsyncIterable<SourceBatch>;
  /** Orders two positions of this log: negative, zero or positive. */
  compare(a: Position, b: Position): number;
  /** Bytes of log between two positions; null where that can't be told. */
  bytesBetween(a: Position, b: Position): number | null;
  /** Idempotent; ends `read`. */
  close(): Promise<void>;
}

/** What a log is and how far it reaches, seen without touching anything. */
export interface LogState {
  readonly identity: SourceIdentity;
  /** Everything that has committed lies at or before this position. */
  readonly head: Position;
  /** The position after which everything can be read; null when nothing can. */
  readonly earliest: Position | null;
  /** Bytes of log that the server keeps for this pipeline, or has in all where it keeps none for anybody. */
  readonly retainedBytes: number | null;
  /**
   * Bytes that the log may still grow before the server may give up what the pipeline has not confirmed; null, or left
   * out, where nothing limits that, or where it is not kept for a pipeline anyway.
   */
  readonly safeBytes?: number | null;
  /** Bytes of log from a position of it to its head; null where that can't be told. */
  bytesBehind(position: Position): number | null;
  /** Orders two positions of this log: negative, zero or positive. */
  compare(a: Position, b: Position): number;
}
