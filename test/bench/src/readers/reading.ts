import type { RowsPerKey } from '../databases/bench-database.js';
import type { KeyChoice } from '../databases/key-choice.js';
import type { DatabaseName } from '../databases/names.js';

export interface Untimed {
  readonly keys: readonly number[];
  /** What they have together. */
  readonly rows: number;
}

/** What a reader was asked to read. */
export interface ReaderSettings extends KeyChoice {
  readonly database: DatabaseName;
  readonly url: string;
  /** The reader's name, which no other reader of the server has or had. */
  readonly reader: string;
  readonly rows: number;
  /** Rows of these keys are read like the others, but the clock does not wait for them. */
  readonly untimed?: Untimed;
  /** Keep the moment of each row: then `arrivals` is filled, by (ordinal - 1) * keys + key. */
  readonly arrivals?: boolean;
}

/** What it read. Moments are milliseconds of the monotonic clock, which all processes of a machine share. */
export interface Reading {
  /** The server began to stream. */
  readonly startedAt: number;
  /** The last timed row was seen. */
  readonly endedAt: number;
  /** Processor time of this process between the two, in milliseconds: steadier than the clock on a busy machine. */
  readonly cpu: number;
  readonly seen: number;
  /** The most that its process had resident, in MiB. */
  readonly peakMib: number;
  /** The ordinal that was seen last, by key. */
  readonly lastOrdinals: RowsPerKey;
  /** Rows that did not follow the one before them in their key; the first few. */
  readonly faults: readonly string[];
  readonly arrivals: Float64Array;
}

/** The clock of all benchmarks: one per machine, not one per process as `performance.now()` is. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
