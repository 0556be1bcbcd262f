import type { Backlog, BacklogOptions, BenchDatabase } from '../databases/bench-database.js';
import type { OffsetsSettings } from '../readers/pipeline-parts.js';
import type { ReaderSettings } from '../readers/reading.js';

/** What all benchmarks of a run share. */
export interface Stage {
  readonly database: BenchDatabase;
  readonly offsets: OffsetsSettings;
  /** Rows of a backlog. */
  readonly rows: number;
  /** Rows of the long backlog that memory is watched over. */
  readonly memoryRows: number;
  readonly rounds: number;
  /** Of drain, keys and handlers only these workloads, and what they are compared with; empty for all. */
  readonly workloads: readonly string[];
  /** What is being done, for a person who waits. */
  progress(text: string): void;
}

/** What a reader of a backlog is told first. */
export function readerOf({ database }: Stage, { url, options }: Backlog, reader: string): ReaderSettings {
  const { rows, keys, skew } = options;
  return { database: database.name, url, reader, rows, keys, ...(skew === undefined ? {} : { skew }) };
}

/** Writes a backlog, and says so. */
export function written(stage: Stage, options: BacklogOptions): Promise<Backlog> {
  stage.progress(`${options.name}: writing the backlog`);
  return stage.database.createBacklog(options);
}
