import type { ExecutorCounts, SourceStatus } from '@strandline/core';
import type { PipelineConfig } from '../config.js';
import type { StuckTurn } from '../dispatcher.js';
import type { PauseReason } from '../pause-reason.js';
import type { PipelineState } from '../pipeline-state.js';
import type { PruneFigures } from '../prune/figures.js';
import type { Run } from '../run.js';

/** A look at a pipeline. */
export interface PipelineStatus extends ExecutorCounts {
  readonly name: string;
  readonly state: PipelineState;
  /** Whether this process works on the pipeline. Else what is told of the log is of its last term of ownership. */
  readonly owned: boolean;
  /** Why the log is not being read on; null while it is. */
  readonly paused: PauseReason | null;
  /** Everything up to here is settled; null before the first ownership. */
  readonly watermark: string | null;
  /** What of it is saved. */
  readonly savedWatermark: string | null;
  /** Settled and not saved. */
  readonly unsaved: number;
  readonly epoch: number | null;
  /** Whether the last commit reached the offset store. */
  readonly offsetsAvailable: boolean;
  /** Whether the last report of this process did, of which there is one a second: a standby, and an owner that is idle, commit nothing. */
  readonly offsetsReached: boolean;
  /** The code of what it could not be opened for when it was tried last, and is tried again; null otherwise. */
  readonly notOpened: string | null;
  readonly source: SourceStatus | null;
  /** Handlers that have not ended within `handlerTimeout`, oldest first. */
  readonly stuckTurns: readonly StuckTurn[];
  /** Keys whose letters are being worked off. */
  readonly releasing: readonly string[];
  /** Parked keys whose events the dead-letter table has no room for: they hold the log. */
  readonly fullKeys: readonly string[];
  /** Whether the dead-letter table answers. */
  readonly lettersAvailable: boolean;
  /** Events run one at a time, to find the one whose handler ends the process. */
  readonly suspecting: boolean;
  /** What the pruner does in this term of ownership; null without `prune`. */
  readonly prune: PruneFigures | null;
  /** What the window allows: events and bytes that may be admitted and not settled. */
  readonly window: { readonly events: number; readonly bytes: number };
  /** What committed before this time is settled, ISO 8601 UTC by the outbox's clock; null before the first event. */
  readonly settledBefore: string | null;
  /** When the oldest event that is not settled was committed, by the same clock; null when there is none. */
  readonly oldestCommit: string | null;
}

const NOTHING: ExecutorCounts = {
  unsettled: 0,
  bytes: 0,
  strands: 0,
  running: 0,
  stuck: 0,
  backoff: 0,
  exhausted: 0,
  halted: 0,
  held: 0,
  parked: 0,
  settled: 0,
};

/** What the pipeline itself knows, beside its run. */
export type OutsideRun = Pick<PipelineStatus, 'state' | 'owned' | 'offsetsReached' | 'notOpened' | 'prune'>;

export function statusOf(
  { name, window }: Pick<PipelineConfig, 'name' | 'window'>,
  outside: OutsideRun,
  run: Run | null,
): PipelineStatus {
  return {
    name,
    ...outside,
    window,
    paused: run?.paused ?? null,
    watermark: run?.executor.watermark ?? null,
    savedWatermark: run?.commits.watermark ?? null,
    unsaved: run?.commits.unsaved ?? 0,
    epoch: run?.stream.offset.epoch ?? null,
    offsetsAvailable: run?.commits.available ?? true,
    source: run?.stream.status() ?? null,
    stuckTurns: run?.stuck ?? [],
    releasing: run?.letters?.releasing ?? [],
    fullKeys: run?.letters?.fullKeys ?? [],
    lettersAvailable: run?.letters?.available ?? true,
    suspecting: run?.letters?.suspecting ?? false,
    settledBefore: run?.settledBefore ?? null,
    oldestCommit: run?.executor.oldest?.transaction.commitTime ?? null,
    ...(run?.executor.counts() ?? NOTHING),
  };
}
