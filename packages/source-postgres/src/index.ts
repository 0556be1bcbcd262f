export type { OutboxMessageOptions, PostgresOptions, RetentionOptions } from './config.js';
export type { ConnectionConfig } from './connection.js';
export { PostgresSourceError, type PostgresErrorCode } from './errors.js';
export { postgres } from './postgres.js';
