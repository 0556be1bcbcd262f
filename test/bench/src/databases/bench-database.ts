import type { Reader } from '../readers/reader.js';
import type { KeyChoice } from './key-choice.js';
import type { DatabaseName } from './names.js';
import type { PayloadType } from './payload.js';

export interface BacklogOptions extends KeyChoice {
  /** Of the database, and the beginning of its readers' names. */
  readonly name: string;
  readonly rows: number;
  readonly perTransaction: number;
  readonly payload: PayloadType;
  /** About how many bytes a payload has. Default 200. */
  readonly payloadBytes?: number;
}

/** How many rows each key has: what a complete reading has seen. */
export type RowsPerKey = Uint32Array;

/** A server of the run's own: nothing else writes its log, and it does no upkeep while something is measured. */
export interface BenchDatabase extends AsyncDisposable {
  readonly name: DatabaseName;
  /** For people to read. */
  readonly label: string;
  /** What is running, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /** With zero rows it is an empty outbox, ready to be written to. One is there at a time. */
  createBacklog(options: BacklogOptions): Promise<Backlog>;
}

/** Rows that were committed before anybody reads, in a log that holds nothing else. */
export interface Backlog extends AsyncDisposable {
  readonly options: BacklogOptions;
  readonly url: string;
  readonly rowsPerKey: RowsPerKey;
  /** Runs `work` for a reader that is called `reader`, a name never used before, and that begins before the first row. */
  withReader<T>(work: (reader: string) => Promise<T>): Promise<T>;
  /** Counts the table's rows anew: the record that readings are compared with comes from the database. */
  count(): Promise<RowsPerKey>;
  /** Readers that only this database has, for the comparison. */
  ownReaders(): Promise<readonly Reader[]>;
}

/** Counts as a query gives them, by key. */
export function rowsPerKeyOf(
  rows: readonly { readonly key: number; readonly rows: number }[],
  keys: number,
): RowsPerKey {
  const counts = new Uint32Array(keys);
  for (const row of rows) counts[row.key] = row.rows;
  return counts;
}
