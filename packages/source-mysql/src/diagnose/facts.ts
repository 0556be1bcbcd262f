import type { Asked, ClockReading, Offset } from '@strandline/core';
import type { MysqlConfig } from '../config.js';
import type { Flavour } from '../gtids.js';
import type { Grants } from './grants.js';
import type { Service } from './service.js';

/** What was found of a server, a pipeline's table and its offset. Checks judge it, and ask nothing. */
export interface MysqlFacts {
  readonly config: MysqlConfig;
  readonly offset: Offset | null;
  /** Seconds that something of the log has been waiting; null while it isn't known. */
  readonly lag: number | null;
  readonly service: Service | null;
  readonly server: ServerState;
  readonly grants: Asked<Grants>;
  readonly table: Asked<TableState> | Refused;
  /** SHOW BINARY LOG STATUS: null where the server has none to show. */
  readonly log: Asked<LogStatus | null>;
  readonly replication: Asked<ReplicationState>;
  /** Undecided XA transactions. */
  readonly prepared: Asked<number>;
  /** Hours that RDS keeps a binlog; null for not at all. Only asked there. */
  readonly keptHours: Asked<number | null>;
  readonly owner: Asked<LockOwner | null>;
  /** What the server says of the offset; null without one in the log. */
  readonly reach: Asked<null> | Refused;
}

/** Something that the pipeline would stop with. */
export interface Refused {
  readonly code: string;
  readonly problem: string;
  readonly remedy: string;
}

export interface ServerState {
  readonly flavour: Flavour;
  readonly host: string;
  /** `'strandline'@'%'`: as who we are logged in. */
  readonly user: string;
  /** Global variables, by name in lower case; those that this version does not have are missing. */
  readonly variables: ReadonlyMap<string, string>;
  /** Those of our own sessions. */
  readonly session: ReadonlyMap<string, string>;
  readonly clock: ClockReading;
}

export interface TableState {
  readonly schema: string;
  /** `schema.table`, for people, and quoted for SQL. */
  readonly label: string;
  readonly sqlName: string;
  /** Null when the mapped columns are there and can be read. */
  readonly columns: Refused | null;
  readonly nullable: readonly string[];
  /** Columns of each unique index. */
  readonly uniqueKeys: readonly (readonly string[])[];
  /** The replica id of this pipeline. */
  readonly serverId: number;
}

export interface LogStatus {
  readonly only: readonly string[];
  readonly without: readonly string[];
}

export interface ReplicationState {
  /** From how many servers it replicates. */
  readonly channels: number;
  /** Replica ids of those that have registered. Null where they may not be seen. */
  readonly replicas: readonly number[] | null;
}

export interface LockOwner {
  readonly connection: number;
  /** Null where it may not be seen. */
  readonly user: string | null;
}
