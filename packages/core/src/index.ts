export { describeConfigIssues, type ConfigIssue } from './config-issues.js';
export type { DeadLetters, Failure } from './dead-letters.js';
export {
  invariant,
  InvariantError,
  OwnershipLostError,
  PermanentError,
  StrandlineError,
  type ErrorDetails,
} from './errors.js';
export type { OutboxEvent, Transaction } from './event.js';
export { Executor, type ExecutorCounts, type ExecutorOptions, type FailureDecision } from './executor.js';
export type { Logger } from './logger.js';
export type { CommitResult, Offset, OffsetSeed, OffsetStore, SourceIdentity } from './offset.js';
export type { Position, PositionRange } from './position.js';
export { delayCeiling, nextDelay, type RetryPolicy } from './retry-policy.js';
export type { OpenRequest, Source, SourceBatch, SourceStatus, SourceStream } from './source.js';
export { Strand, type StrandState } from './strand.js';
export { Mark, Watermark } from './watermark.js';
