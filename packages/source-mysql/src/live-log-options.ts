import type { Logger } from '@strandline/core';
import type { MysqlConfig } from './config.js';
import type { Connector } from './connection.js';
import type { LogPlace } from './log-place.js';
import type { MysqlPending } from './pending.js';
import type { LogEnd, ServerFacts } from './server.js';
import type { TableFacts } from './table.js';

export interface LiveLogOptions {
  readonly connector: Connector;
  readonly config: MysqlConfig;
  readonly facts: ServerFacts;
  readonly table: TableFacts;
  readonly serverId: number;
  readonly start: LogPlace;
  /** Up to where the table's columns of now take in its changes; needed where the log has no column names. */
  readonly layouts?: LogEnd;
  readonly pending: MysqlPending;
  readonly log: Logger;
}
