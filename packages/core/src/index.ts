export type { Bookmark, BookmarkStore } from './bookmarks.js';
export { describeConfigIssues, type ConfigIssue } from './config-issues.js';
export { NO_CONTROLS, type Controls, type ControlStore, type HeldKey, type Order } from './controls.js';
export type { DiagnosisRequest } from './diagnosis.js';
export type {
  CrashRecord,
  DeadLetter,
  DeadLetterDesk,
  DeadLetterStore,
  Failure,
  LetterCounts,
  LetterError,
  LetterFence,
  LetterFilter,
  LetterLimits,
  LetterReason,
  LetterResult,
  LetterState,
  NewLetter,
  ParkedKey,
  ParkedKeyState,
} from './dead-letters.js';
export { CLOCK_WHY, clockVerdict, type ClockReading } from './clock-difference.js';
export {
  invariant,
  InvariantError,
  OwnershipLostError,
  PermanentError,
  StrandlineError,
  type ErrorDetails,
} from './errors.js';
export { identityOf, SNAPSHOT_PREFIX } from './event-identity.js';
export { recordOf, restoreEvent, type EventRecord } from './event-record.js';
export type { OutboxEvent, PayloadFormat, Transaction } from './event.js';
export { Executor, type ExecutorCounts, type ExecutorOptions, type FailureDecision } from './executor.js';
export {
  answerOf,
  fail,
  findingsOf,
  pass,
  warn,
  type Asked,
  type Check,
  type Finding,
  type Verdict,
} from './finding.js';
export { timedBy, withAttempt, type FailedAttempts, type FailureHistory } from './failure-history.js';
export { EVENT_OVERHEAD, LazyEvent, NO_COLUMNS, type EventTexts } from './lazy-event.js';
export type { HandlerContext } from './handler-context.js';
export type { HandlerDiagnosisRequest, HandlerParts } from './handler-parts.js';
export type { Logger } from './logger.js';
export type { InstanceRegister, InstanceReport } from './instances.js';
export type { LogReader, LogReaderRequest, LogStart, LogState } from './log-reader.js';
export type {
  CommitResult,
  Offset,
  OffsetChange,
  OffsetSeed,
  OffsetStore,
  RegisteredPipeline,
  ReplacedOffset,
} from './offset.js';
export type { ParkedStrand } from './parked-strands.js';
export type { Position, PositionRange } from './position.js';
export type {
  HeldBack,
  OldPartition,
  OutboxPruner,
  Relation,
  ReplicaLag,
  RowKey,
  RowsLook,
  RowTime,
  PrunerRequest,
  ServerLoad,
} from './outbox-pruner.js';
export { delayCeiling, nextDelay, type RetryPolicy } from './retry-policy.js';
export { cut, shortError, type ShortError } from './short-error.js';
export type { SourceBatch } from './source-batch.js';
export type { SourceIdentity } from './source-identity.js';
export type { OpenRequest, RetentionStatus, Source, SourceStatus, SourceStream } from './source.js';
export { Strand, type StrandState } from './strand.js';
export { readThrown, type Thrown } from './thrown.js';
export { Mark, Watermark } from './watermark.js';
export { withoutCredentials } from './without-credentials.js';
