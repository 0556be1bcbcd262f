import type { Logger, LogState, OffsetStore, Position, Source } from '@strandline/core';
import type { PipelineState } from '../pipeline-state.js';

/** What an operator's desk needs of a pipeline. */
export interface DeskParts {
  readonly name: string;
  readonly source: Source;
  readonly offsets: OffsetStore;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Of the pipeline in this process. */
  state(): PipelineState;
}

/** A log's order of positions; null where it has none for them: one of them may be another log's, or a snapshot's. */
export function order(state: LogState, a: Position, b: Position): number | null {
  try {
    return state.compare(a, b);
  } catch {
    return null;
  }
}
