import type { Position } from '@strandline/core';

/** What a replay does with the part of the log that is meant: handles its events, or counts them. */
export interface ReplayWork {
  /** Resolves when all is done, or after `stop`; rejects with what ended it. */
  run(): Promise<void>;
  /** What is in flight may end. */
  stop(): void;
  /** All of the part is done. */
  readonly isDone: boolean;
  /** Everything up to here is done. */
  readonly position: Position;
  /** Events that did not fit the filter. */
  readonly skipped: number;
  /** Calls of the handler beyond the first one for an event. */
  readonly retries: number;
  /** Whether the caller is a handler, before its first await. */
  readonly insideHandler: boolean;
}
