import type { Backlog, BenchDatabase } from '../databases/bench-database.js';
import { startJob } from '../processes/start-job.js';
import type { FailingSettings } from '../readers/failing.js';
import type { Reading, ReaderSettings } from '../readers/reading.js';
import type { ReleasingReading, ReleasingSettings } from '../readers/releasing.js';
import type { OffsetsSettings } from '../readers/pipeline-parts.js';
import type { StrandlineReading, StrandlineSettings } from '../readers/strandline.js';

/** What all benchmarks of a run share. */
export interface Stage {
  readonly database: BenchDatabase;
  readonly offsets: OffsetsSettings;
  /** Rows of a backlog. */
  readonly rows: number;
  readonly rounds: number;
  /** What is being done, for a person who waits. */
  progress(text: string): void;
}

/** What a reader of a backlog is told first. */
export function readerOf({ database }: Stage, { url, options }: Backlog, reader: string): ReaderSettings {
  return { database: database.name, url, reader, rows: options.rows, keys: options.keys };
}

export function strandline(
  { offsets }: Stage,
  settings: ReaderSettings & Partial<StrandlineSettings>,
): Promise<StrandlineReading> {
  return startJob('strandline', { offsets, handler: 'async', visibility: 'committed', ...settings }).result;
}

export function failing(settings: FailingSettings): Promise<Reading> {
  return startJob('failing', settings).result;
}

export function releasing(settings: ReleasingSettings): Promise<ReleasingReading> {
  return startJob('releasing', settings).result;
}

export function bareLibrary(settings: ReaderSettings): Promise<Reading> {
  return startJob('bare', settings).result;
}
