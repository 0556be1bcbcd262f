/**
 * What a source has a session with its server for: to read the log, to ask, and to be known there as the owner of its
 * pipeline. On Postgres that is the one that reads the log.
 */
export type PipelineSessionKind = 'log' | 'query' | 'owner';

/** The sessions of a pipeline, as its server knows them. */
export interface PipelineSessions {
  /** Ends those of these kinds, once there is one of each. */
  end(...kinds: readonly PipelineSessionKind[]): Promise<void>;
  /** Resolves when the server knows no owner of the pipeline. */
  untilNobodyOwns(): Promise<void>;
}
