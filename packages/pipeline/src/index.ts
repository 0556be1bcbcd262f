export type { HandlerContext } from '@strandline/core';
export type { BatchHandler, BatchPipelineOptions, Handler, PipelineOptions, ReplayStart } from './config.js';
export type { ControlDesk, Ordered } from './control/control-desk.js';
export type { Happening, HappeningKind } from './control/happenings.js';
export type { Intervention, InterventionOptions } from './control/interventions.js';
export type { OrderOptions } from './control/orders.js';
export type { PayloadView } from './control/strand-desk.js';
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
export type { PruneFigures, PruneState } from './prune/figures.js';
export type { PruneOptions } from './prune/options.js';
export type { PauseKind, PrunePause } from './prune/pauses.js';
export type { PruneReport, PruneRequest } from './prune/prune-once.js';
export type { PruneOutcome, PruneSurvey } from './prune/pruning.js';
export type { EventFilter, LogPlace, ReplayOptions } from './replay/options.js';
export type { Replay, ReplayState, ReplayStatus, ReplaySummary } from './replay/replay.js';
export type { TailOptions } from './replay/tail.js';
export type { Counted } from './replay/tally.js';
export { normalTime } from './replay/time.js';
export type { PauseReason } from './pause-reason.js';
export type { PipelineState } from './pipeline-state.js';
export type { KeyView, LetterView, WaitingEvent } from './report/key-view.js';
export type { StrandList, StrandQuery, StrandSort } from './report/strand-list.js';
export type { StrandView } from './report/strand-view.js';
export type { PipelineStatus } from './report/status.js';
export type { StoredReason, Totals } from './report/ledger.js';
