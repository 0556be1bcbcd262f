import type { InboxFacts } from './diagnose.js';

/** What may be pruned, and how much of it at once. */
export interface Pruning {
  readonly inbox: string;
  /** ISO 8601 UTC with microseconds. */
  readonly settledBefore: string;
  /** Milliseconds. */
  readonly keep: number;
  readonly limit: number;
}

/**
 * One connection, for one turn:
 *
 *     open ──record──► in the transaction ──commit or rollback──► done ──restore──► as it was ──release──► gone
 *       from anywhere, when it is not known what the connection is at ──destroy──► gone
 */
export interface Session<Tx> {
  /** What the effect gets. */
  readonly tx: Tx;
  /**
   * Begins the transaction and records the events in it, by their digests: true for those that weren't recorded before.
   * Waits for other transactions that have recorded one of them and are not decided.
   */
  record(inbox: string, digests: readonly Buffer[]): Promise<readonly boolean[]>;
  /**
   * @throws `INBOX_ENDED` and `INBOX_ROLLED_BACK` when the transaction is no longer the one that was begun;
   *   `INBOX_COMMIT` when it isn't known whether it has committed.
   */
  commit(): Promise<void>;
  rollback(): Promise<void>;
  /** Makes the connection again what it was when the pool gave it. */
  restore(): Promise<void>;
  /** Deletes the oldest records that are no longer needed, and tells how many. */
  prune(pruning: Pruning): Promise<number>;
  release(): void;
  destroy(): void;
}

/** The database that has the effects and the table of records. */
export interface Database<Tx> {
  /**
   * Makes the table when it is missing, and checks it.
   * @throws `INBOX_SCHEMA`
   */
  prepare(): Promise<void>;
  open(): Promise<Session<Tx>>;
  /** What is there of the table, and what this user may do with it. Changes nothing. */
  look(): Promise<InboxFacts>;
  /** Whether an error says that the table is gone. */
  isMissingTable(error: unknown): boolean;
}

/** A field of a driver's error, whatever that is. */
export function errorField(error: unknown, field: 'code' | 'errno' | 'severity' | 'sqlState'): unknown {
  return typeof error === 'object' && error !== null ? (error as Record<string, unknown>)[field] : undefined;
}
