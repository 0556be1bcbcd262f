import type { ExecutorCounts, SourceStatus } from '@strandline/core';
import type { StuckTurn } from '../dispatcher.js';
import type { PauseReason, Run } from '../run.js';

/**
 * What a pipeline is doing:
 *
 *     idle ──start──► starting ──► running ◄──► standby
 *                        │            │            │
 *                        └────────────┴──stop──────┴──► stopping ──► stopped
 *                    an error that can't be healed, from anywhere ──► failed
 */
export type PipelineState = 'idle' | 'starting' | 'standby' | 'running' | 'stopping' | 'stopped' | 'failed';

/** A look at a pipeline. */
export interface PipelineStatus extends ExecutorCounts {
  readonly name: string;
  readonly state: PipelineState;
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

export function statusOf(name: string, state: PipelineState, run: Run | null): PipelineStatus {
  return {
    name,
    state,
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
    ...(run?.executor.counts() ?? NOTHING),
  };
}
