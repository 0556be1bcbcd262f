import type { PipelineOptions } from '../options.js';

export interface PruneCommandOptions extends PipelineOptions {
  /** Milliseconds. */
  readonly keep?: number;
  readonly dryRun?: true;
  readonly once?: true;
}
