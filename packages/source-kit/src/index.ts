export { Asking, QUESTION_LIMIT, unlessUnasked, type Explain } from './asking.js';
export { IdSet, type Ids } from './id-set.js';
export { leastUlid, leastUuid } from './id-times.js';
export { sourceOnDemand } from './on-demand.js';
export {
  outboxSchema,
  type OutboxKey,
  type OutboxLimits,
  type OutboxRow,
  type OutboxTable,
  type OutboxTableOptions,
} from './outbox-options.js';
export { Pending, type PendingLimits, type PendingOptions } from './pending.js';
export type { OutboxPreset } from './presets.js';
export { readerFields, type ReaderConfig, type ReaderOptions } from './reader-options.js';
export { SnapshotOrder } from './snapshot-order.js';
export {
  parseSnapshotPosition,
  SNAPSHOT_START,
  snapshotPosition,
  type SnapshotPosition,
} from './snapshot-position.js';
