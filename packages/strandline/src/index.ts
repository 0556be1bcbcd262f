export {
  OwnershipLostError,
  PermanentError,
  StrandlineError,
  type Bookmark,
  type DeadLetter,
  type DeadLetterDesk,
  type DeadLetterStore,
  type LetterCounts,
  type LetterFilter,
  type Logger,
  type OffsetStore,
  type OutboxEvent,
  type Position,
  type RetryPolicy,
  type RowTime,
  type Source,
  type Transaction,
} from '@strandline/core';
export { deadLetterDesk, deadLetters, LettersError, type DeadLettersOptions } from '@strandline/dead-letters';
export {
  batchInbox,
  inbox,
  InboxEndedError,
  InboxError,
  type BatchEffect,
  type Effect,
  type InboxOptions,
} from '@strandline/inbox';
export { fileOffsets, memoryOffsets } from '@strandline/offsets-local';
export { redisOffsets } from '@strandline/offsets-redis';
export {
  definePipeline,
  env,
  PipelineError,
  type BatchHandler,
  type BatchPipelineOptions,
  type BookmarkDesk,
  type BookmarkView,
  type Handler,
  type HandlerContext,
  type LetterPage,
  type OffsetDesk,
  type OffsetMove,
  type OffsetView,
  type Pipeline,
  type PipelineDesk,
  type PipelineOptions,
  type PipelineStatus,
  type PruneFigures,
  type PruneOptions,
  type PruneReport,
  type PruneRequest,
  type Replay,
  type ReplayOptions,
  type ReplayStart,
  type ReplayStatus,
  type ReplaySummary,
  type TailOptions,
} from '@strandline/pipeline';
export type { OutboxKey, OutboxRow, OutboxTableOptions } from '@strandline/source-kit';
export { mysql, MysqlSourceError, type MysqlOptions } from '@strandline/source-mysql';
export {
  postgres,
  PostgresSourceError,
  type OutboxMessageOptions,
  type PostgresOptions,
  type RetentionOptions,
} from '@strandline/source-postgres';
