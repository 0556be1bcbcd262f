export type { OutboxMessageOptions, OutboxRow, OutboxTableOptions, PostgresOptions } from './config.js';
export type { ConnectionConfig } from './connection.js';
export { PostgresSourceError, type PostgresErrorCode } from './errors.js';
export type { OutboxPreset } from './presets.js';
export { postgres } from './source.js';
