import type { Logger } from '@strandline/core';
import type { PipelineConfig } from './config.js';

/** What the turns of one term of ownership share. */
export class Term {
  readonly pipeline: string;
  /** The pipeline whose events these are; another one than `pipeline` in a replay. */
  readonly eventsOf: string;
  readonly isBatched: boolean;
  /** What committed before this time is settled and saved, by the outbox's clock; null while it isn't known. */
  settledBefore: string | null = null;

  constructor(
    { name, batch }: Pick<PipelineConfig, 'name' | 'batch'>,
    readonly log: Logger,
    replayOf: string | null = null,
  ) {
    this.pipeline = name;
    this.eventsOf = replayOf ?? name;
    this.isBatched = batch !== undefined;
  }
}
