import type { Logger } from '@strandline/core';
import type { PipelineConfig } from './config.js';
import { Ledger } from './report/ledger.js';

/** What the turns of one term of ownership share. */
export class Term {
  readonly pipeline: string;
  /** The pipeline whose events these are; another one than `pipeline` in a replay. */
  readonly eventsOf: string;
  /** The replay's name in a replay. */
  readonly replay: string | null;
  /** What messages say of whose they are. */
  readonly whose: { readonly pipeline: string; readonly replay: string | null };
  readonly isBatched: boolean;
  /** What committed before this time is settled and saved, by the outbox's clock; null while it isn't known. */
  settledBefore: string | null = null;

  constructor(
    { name, batch }: Pick<PipelineConfig, 'name' | 'batch'>,
    readonly log: Logger,
    replayOf: string | null = null,
    /** What is counted. A replay counts for itself. */
    readonly ledger = new Ledger(),
  ) {
    this.pipeline = name;
    this.eventsOf = replayOf ?? name;
    this.replay = replayOf === null ? null : name;
    this.whose = { pipeline: this.eventsOf, replay: this.replay };
    this.isBatched = batch !== undefined;
  }
}
