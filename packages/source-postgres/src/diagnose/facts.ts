import type { Asked, ClockReading, Offset } from '@strandline/core';
import type { PostgresConfig } from '../config.js';
import type { Lsn } from '../lsn.js';
import type { Service } from './service.js';

/** What was found of a server, a pipeline's table and what it makes. Checks judge it, and ask nothing. */
export interface PostgresFacts {
  readonly config: PostgresConfig;
  /** Names that the pipeline's slot and publication have, or will have. */
  readonly slotName: string;
  readonly publicationName: string;
  /** How sessions of this pipeline begin their names. */
  readonly namePrefix: string;
  readonly offset: Offset | null;
  readonly service: Service | null;
  readonly server: ServerState;
  /** The session that speaks the replication protocol, as the pipeline opens one. */
  readonly replication: Asked<ReplicationState> | RefusedReplication;
  /** Null without an outbox table. */
  readonly table: Asked<TableState | 'missing'> | null;
  /** Null when there is none of that name. */
  readonly publication: Asked<PublicationState | null>;
  /** Other publications that have the table. */
  readonly publications: Asked<readonly PublishedTable[]>;
  readonly slots: Asked<SlotsState>;
  readonly transactions: Asked<TransactionsState>;
  readonly standbys: Asked<StandbysState>;
  /** Null where there is no table. */
  readonly vacuum: Asked<VacuumState | null>;
}

export interface ServerState {
  /** server_version_num, such as 180004. */
  readonly version: number;
  readonly versionText: string;
  readonly host: string;
  readonly port: number;
  /** As who we are logged in, quoted for SQL. */
  readonly role: string;
  readonly database: string;
  readonly inRecovery: boolean;
  readonly encoding: string;
  /** By name; those that this version does not have are missing. */
  readonly settings: ReadonlyMap<string, string>;
  readonly clock: ClockReading;
  /** May this role make things in the database: publications, for one. */
  readonly mayCreate: boolean;
  readonly isSuperuser: boolean;
  /** Sees what other roles' sessions do. */
  readonly seesActivity: boolean;
}

export interface ReplicationState {
  readonly system: string;
  readonly timeline: number;
  /** Milliseconds after which the server hangs up on a silent reader of ours; 0 for never. */
  readonly walSenderTimeout: number;
}

/** It was refused for a reason that has a code of its own. */
export interface RefusedReplication {
  readonly code: string;
  readonly problem: string;
  readonly remedy: string;
}

export interface ColumnState {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly isGenerated: boolean;
}

export interface TableState {
  /** `schema.table` as the log names it, and quoted for SQL. */
  readonly name: string;
  readonly sqlName: string;
  readonly oid: string;
  readonly kind: 'table' | 'partitioned' | 'other';
  /** Partitions, or the table itself, whose rows do not reach the log. */
  readonly unlogged: readonly string[];
  readonly hasChildren: boolean;
  readonly columns: readonly ColumnState[];
  /** Columns of each unique index that holds for all rows. */
  readonly uniqueKeys: readonly (readonly string[])[];
  /** Tables (partitions, or the table itself) that have no replica identity. */
  readonly withoutIdentity: readonly string[];
  readonly maySelect: boolean;
  /** Whether row security hides rows from this role. */
  readonly hidesRows: boolean;
  readonly isOwner: boolean;
}

/** How a publication has the table. */
export interface PublishedTable {
  readonly name: string;
  readonly updates: boolean;
  readonly deletes: boolean;
}

export interface PublicationState extends PublishedTable {
  readonly oid: string;
  readonly inserts: boolean;
  readonly truncates: boolean;
  readonly viaRoot: boolean;
  readonly allTables: boolean;
  /** Null when the table is not in it. */
  readonly entry: {
    /** Null for all. */
    readonly columns: readonly string[] | null;
    readonly filter: string | null;
  } | null;
  /** The oid of the table's entry in it; empty where it has none of its own. */
  readonly membership: string;
}

export interface SlotsState {
  /** Slots that the server has, and sessions that read its log. */
  readonly used: number;
  readonly senders: number;
  readonly ours: SlotState | null;
}

export interface SlotState {
  readonly type: string;
  readonly plugin: string | null;
  readonly database: string | null;
  readonly temporary: boolean;
  readonly twoPhase: boolean;
  /** Null on versions that know no such thing. */
  readonly failover: boolean | null;
  /** Null when it is good. */
  readonly invalidation: string | null;
  readonly status: string;
  readonly confirmed: Lsn;
  /** Bytes that may be written until the slot is in danger; null when there is no limit. */
  readonly safeBytes: number | null;
  readonly retainedBytes: number | null;
  readonly reader: { readonly pid: number; readonly name: string | null } | null;
}

export interface TransactionsState {
  /** That have changed something; seconds since they began, null for one of another role that may not be seen. */
  readonly open: readonly { readonly pid: number; readonly age: number | null }[];
  readonly prepared: readonly { readonly gid: string; readonly age: number }[];
}

export interface StandbysState {
  /** Physical slots, and readers that are no logical ones. */
  readonly count: number;
}

/** What the statistics say of the outbox table and its partitions. */
export interface VacuumState {
  /** `schema.table`, quoted for SQL; of partitions the one with most dead rows. */
  readonly table: string;
  readonly live: number;
  readonly dead: number;
  /** Autovacuum's, or one by hand; null for never. */
  readonly vacuumedAt: string | null;
  /** Autovacuum is off for the server, or for one of the tables. */
  readonly off: 'server' | 'table' | null;
  /** Of a large table so many dead rows in proportion make it be vacuumed. */
  readonly scaleFactor: number;
}
