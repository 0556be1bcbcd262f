export type { HandlerContext } from '@strandline/core';
export type { BatchHandler, BatchPipelineOptions, Handler, PipelineOptions, ReplayStart } from './config.js';
export type { LetterPage, PipelineDesk } from './letters/desk.js';
export { env } from './environment.js';
export { PipelineError, type PipelineErrorCode } from './errors.js';
export {
  CHANNELS,
  listen,
  type BatchMessage,
  type CommitMessage,
  type KeyMessage,
  type LettersMessage,
  type OfPipeline,
  type OwnershipLostMessage,
  type OwnershipMessage,
  type PauseMessage,
  type ReconnectMessage,
  type ResumeMessage,
  type StateMessage,
  type StrandlineEventName,
  type StrandlineEvents,
  type StuckMessage,
} from './events/channels.js';
export type { Around, Timing, Turn, TurnKind, TurnOutcome } from './events/turn.js';
export { readInstanceDetails, type InstanceDetails } from './report/instance-details.js';
export type { BookmarkDesk, BookmarkView } from './operator/bookmark-desk.js';
export type { OffsetDesk, OffsetLogView, OffsetView, Review } from './operator/offset-desk.js';
export type { OffsetMove } from './operator/offset-move.js';
export { hashedKey, type LogKeys } from './log-keys.js';
export { definePipeline, type Pipeline } from './pipeline.js';
export type { EventFilter, LogPlace, ReplayOptions } from './replay/options.js';
export type { Replay, ReplayState, ReplayStatus, ReplaySummary } from './replay/replay.js';
export type { TailOptions } from './replay/tail.js';
export type { Counted } from './replay/tally.js';
export { normalTime } from './replay/time.js';
export type { PauseReason } from './pause-reason.js';
export type { PipelineState } from './pipeline-state.js';
export type { PipelineStatus } from './report/status.js';
export type { StoredReason, Totals } from './report/ledger.js';
