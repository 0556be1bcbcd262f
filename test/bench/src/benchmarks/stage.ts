import type { PostgresServer } from '@strandline/servers';
import { startJob } from '../processes/start-job.js';
import type { Reading, ReaderSettings } from '../readers/reading.js';
import type { OffsetsSettings, StrandlineReading, StrandlineSettings } from '../readers/strandline.js';

/** What all benchmarks of a run share. */
export interface Stage {
  readonly postgres: PostgresServer;
  readonly offsets: OffsetsSettings;
  /** Rows of a backlog. */
  readonly rows: number;
  readonly rounds: number;
  /** What is being done, for a person who waits. */
  progress(text: string): void;
}

/**
 * A Postgres of the run's own: nothing else writes its log, and it does no upkeep while something is measured.
 * The rest are the fixture's defaults; fsync is off there, so the disk is not measured.
 */
export const POSTGRES_SETTINGS = { autovacuum: 'off', checkpoint_timeout: '1h', max_wal_size: '16GB' };

export function strandline(
  { offsets }: Stage,
  settings: ReaderSettings & Partial<StrandlineSettings>,
): Promise<StrandlineReading> {
  return startJob('strandline', { offsets, handler: 'async', visibility: 'committed', ...settings }).result;
}

export function bareLibrary(settings: ReaderSettings): Promise<Reading> {
  return startJob('bare', settings).result;
}
