import type { LogReaderRequest } from './log-reader.js';
import type { RegisteredPipeline } from './offset.js';
import type { Position } from './position.js';
import type { SourceIdentity } from './source-identity.js';

/**
 * What tells how old a row is: a column, or an id that holds its time. It only decides how long a settled row is kept:
 * that it is settled is proven without any clock.
 */
export type RowTime = string | { readonly id: 'uuidv7' | 'ulid' };

export interface PrunerRequest extends Pick<LogReaderRequest, 'pipeline' | 'signal' | 'log'> {
  /** Milliseconds for which a row is kept, by the server's clock; 0: no longer than it takes to settle it. */
  readonly keep: number;
  /** Null: the column `created_at`, and nothing where `keep` is 0. */
  readonly createdAt: RowTime | null;
  /** Readers of the log, by the names of their slots, that hold nothing back. */
  readonly ignoreSlots: readonly string[];
  /** Connection strings of replicas, where the server does not know how far they are. */
  readonly replicas: readonly string[];
  /** Only looks: takes no lock, and needs no right to delete. */
  readonly dryRun: boolean;
}

/** The primary key of a row: the server's text of each column. */
export type RowKey = readonly string[];

/** A stretch of the table. */
export interface RowsLook {
  /** The rows that are old enough. */
  readonly old: readonly RowKey[];
  /** How many rows were looked at. */
  readonly looked: number;
  /** The last one of them, to go on after it; null when there are no more. */
  readonly last: RowKey | null;
}

/** Whether a pipeline reads an outbox. `unknown`: its offset does not say, so it must be taken for one that does. */
export type Relation = 'reads' | 'other' | 'unknown';

/** Why nothing may go yet. */
export interface HeldBack {
  /** `pipeline order-mails`, `slot debezium`. */
  readonly who: string;
  /** Where it stands; null where that says nothing. */
  readonly at: Position | null;
  readonly why: string;
}

/** A part of the table that can go as a whole. */
export interface OldPartition {
  readonly name: string;
  /** It was taken out of the table before, perhaps by a process that has ended since. */
  readonly setAside: boolean;
}

export interface ReplicaLag {
  readonly name: string;
  /** Milliseconds; null where the server does not tell. */
  readonly time: number | null;
  /** Bytes of log; null where the server does not tell. */
  readonly bytes: number | null;
}

/** How busy a server is, and how far its replicas are. */
export interface ServerLoad {
  /** Sessions at work, ours left out. */
  readonly active: number;
  readonly replicas: readonly ReplicaLag[];
}

/**
 * One session with an outbox's server that deletes rows of it, and that alone does: it has a lock on that. What may be
 * deleted is for the caller to find out, in this order: `look` for rows, *then* ask for the `end` of the log, which
 * everything that could be seen lies before, and `remove` those rows once `heldBack` names nobody for that end.
 */
export interface OutboxPruner extends AsyncDisposable {
  /** For people: `shop.public.outbox`. */
  readonly outbox: string;
  /** Tells by what an offset says of its source whether the pipeline reads this outbox. */
  relationOf(identity: SourceIdentity): Relation;
  /** Rows in the order of their keys, or of their age where an index has that. */
  look(after: RowKey | null, limit: number): Promise<RowsLook>;
  /** Everything that was visible to this session before the call had committed before this position. */
  end(): Promise<Position>;
  /**
   * Who has not settled everything up to there, or could not be proven to have: of these pipelines, and of other readers.
   *
   * @param named pipelines that are to have settled it here: an offset from elsewhere does not excuse them
   */
  heldBack(
    end: Position,
    pipelines: readonly RegisteredPipeline[],
    named: readonly string[],
  ): Promise<readonly HeldBack[]>;
  /** Deletes rows in one short transaction; `locked`, and none, when one of them is in use. */
  remove(keys: readonly RowKey[]): Promise<number | 'locked'>;
  /** Parts of the table whose rows are all old enough, the oldest first. */
  partitions(): Promise<readonly OldPartition[]>;
  /**
   * Takes a partition out of the table, so that no row comes into it and all that it has are visible. `locked` when the
   * table is in use; `refused`, with the reason logged, when it has to go row by row.
   */
  setAside(partition: OldPartition): Promise<'done' | 'locked' | 'refused'>;
  /** Drops what was set aside. */
  drop(partition: OldPartition): Promise<'done' | 'locked'>;
  load(): Promise<ServerLoad>;
  /** How many rows are old enough, and when the oldest row is from, ISO 8601 UTC; null where that isn't known. Reads the whole table. */
  survey(): Promise<{ readonly old: number; readonly oldest: string | null }>;
  /** When the oldest row is from, where that is known without reading the whole table. */
  oldest(): Promise<string | null>;
}
