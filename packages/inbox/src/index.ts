export { batchInbox, inbox, type BatchEffect, type Effect } from './define.js';
export { InboxEndedError, InboxError, type InboxErrorCode } from './errors.js';
export type { InboxOptions } from './options.js';
