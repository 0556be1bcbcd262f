import type { LiveCounts } from './live-counts.js';
import type { Kill } from './strandline.js';
import type { WorkerStatus } from './worker-messages.js';

/** One look at the running demo: what the view draws. */
export interface Progress {
  readonly phase: 'selling' | 'draining' | 'done';
  /** Seconds since the writers began. */
  readonly elapsed: number;
  readonly seconds: number;
  readonly counts: LiveCounts;
  /** The latest report of the worker; undefined while it is dead or not up yet. */
  readonly worker: WorkerStatus | undefined;
  readonly run: number;
  readonly kills: readonly Kill[];
  readonly plannedKills: number;
}
