import type { RowTime } from '@strandline/core';
import { z } from 'zod';

/** Deletes settled rows of the outbox while the pipeline runs. */
export interface PruneOptions {
  /** Milliseconds for which a row stays in the table at least, by the server's clock; 0: only until all have settled it. */
  readonly keep: number;
  /**
   * The column that says when a row was written, default `created_at`: timestamptz, timestamp or datetime (taken for UTC),
   * or bigint (milliseconds since 1970); or `{ id: 'uuidv7' }` or `{ id: 'ulid' }` where the primary key has the time in it.
   */
  readonly createdAt?: RowTime;
  /** Milliseconds between rounds, default a minute. A round works off all that is old. */
  readonly every?: number;
  /** The most rows that one transaction deletes, default 1,000. */
  readonly chunk?: number;
  /** Milliseconds that it should take at most, default 250: one that took longer is followed by half as many rows. */
  readonly longest?: number;
  /** The part of the time that is spent deleting, default 0.25. */
  readonly duty?: number;
  /** Pipelines that must have an offset in the store, or nothing is deleted: a store that lost one must not let go of its rows. */
  readonly pipelines?: readonly string[];
  /** Postgres: slots of other readers, such as Debezium's, that hold nothing back. */
  readonly ignoreSlots?: readonly string[];
  /** MySQL and MariaDB: connection strings of replicas whose lag counts. */
  readonly replicas?: readonly string[];
  /** It pauses while a replica is further behind: milliseconds (default 10,000), bytes of log (default 64 MiB). */
  readonly replicaLag?: { readonly time?: number; readonly bytes?: number };
  /** It pauses while more sessions than so many are at work, default 64. */
  readonly activeSessions?: number;
}

/** Validated, with every default filled in. */
export interface PruneConfig {
  readonly keep: number;
  readonly createdAt: RowTime | null;
  readonly every: number;
  readonly chunk: number;
  readonly longest: number;
  readonly duty: number;
  readonly pipelines: readonly string[];
  readonly ignoreSlots: readonly string[];
  readonly replicas: readonly string[];
  readonly replicaLag: { readonly time: number; readonly bytes: number };
  readonly activeSessions: number;
}

/** setTimeout takes no more. */
const LONGEST_TIMEOUT = 2_147_483_647;

const name = z.string().min(1);

const REPLICA_LAG = { time: 10_000, bytes: 64 * 1_024 * 1_024 };

export const pruneSchema = z.strictObject({
  keep: z
    .number()
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER / 2),
  createdAt: z
    .union([name, z.strictObject({ id: z.enum(['uuidv7', 'ulid']) })], {
      error: "must be the name of a column, { id: 'uuidv7' } or { id: 'ulid' }",
    })
    .nullable()
    .default(null),
  every: z.number().min(100).max(LONGEST_TIMEOUT).default(60_000),
  // MySQL's and MariaDB's optimizers look each of them up, up to some thousands.
  chunk: z.number().int().positive().max(5_000).default(1_000),
  longest: z.number().min(1).max(10_000).default(250),
  duty: z.number().min(0.001).max(1).default(0.25),
  pipelines: z.array(name).default([]),
  ignoreSlots: z.array(name).default([]),
  // Their text is in no message: they hold passwords.
  replicas: z.array(z.string()).default([]),
  replicaLag: z
    .strictObject({
      time: z.number().min(0).default(REPLICA_LAG.time),
      bytes: z.number().min(0).default(REPLICA_LAG.bytes),
    })
    .default(REPLICA_LAG),
  activeSessions: z.number().int().positive().default(64),
});
