import type {
  DeadLettersOptions,
  MysqlOptions,
  PipelineOptions,
  PipelineStatus,
  PostgresOptions,
} from 'strandline';
import type { KillPoint } from './planted-kill.js';
import type { HandlerBehaviour } from './scripted-handler.js';

/** Which offset store, as plain data. */
export type OffsetsChoice =
  | { readonly kind: 'file'; readonly directory: string }
  | {
      readonly kind: 'redis';
      readonly url: string;
      readonly keyPrefix: string;
      readonly commandTimeout?: number;
    };

/** Which source, as plain data: what is called, and with what. */
export type SourceChoice = { readonly postgres: PostgresOptions } | { readonly mysql: MysqlOptions };

type TuningField =
  'concurrency' | 'retry' | 'window' | 'commitInterval' | 'onFailure' | 'parking' | 'maxPerKey' | 'overflow';

/** A pipeline as plain data: what its process is told. */
export interface PipelineProcessOptions {
  readonly name: string;
  readonly source: SourceChoice;
  readonly offsets: OffsetsChoice;
  readonly tuning?: Pick<PipelineOptions, TuningField>;
  readonly behaviour?: HandlerBehaviour;
  /** Connection string of a database with `EffectCounters`, where events are counted over an inbox. */
  readonly effects?: string;
  /** Where dead letters are kept; by default nowhere. */
  readonly letters?: DeadLettersOptions;
  /** The process kills itself at this statement of its life to the dead-letter table. */
  readonly killAt?: KillPoint;
  /** File that the handlers' doings are appended to. */
  readonly history: string;
  readonly run: number;
  /** Writes each term of ownership down as a run of its own: see `runOfTerm`. */
  readonly terms?: boolean;
}

/** What a process looks like from inside. */
export interface ProcessReport {
  readonly status: PipelineStatus;
  /** The most events that were admitted and not settled, seen by a handler at any time. */
  readonly mostUnsettled: number;
  readonly mostBytes: number;
  /** Resident memory now, and the most there ever was, in bytes. */
  readonly rss: number;
  readonly mostRss: number;
  /** Statements to the dead-letter table since the process started or a kill was planted. */
  readonly statements: number;
}

export type ToProcess =
  | { readonly type: 'report'; readonly id: number }
  /** Lets the handlers of a key go on; without one, of all keys. */
  | { readonly type: 'release'; readonly key: string | undefined }
  /** Lets the handler of a key that waits now go on; the next one waits again. */
  | { readonly type: 'step'; readonly key: string }
  /** From now on the events with these payloads fail for good, and no others. */
  | { readonly type: 'break'; readonly payloads: readonly string[] }
  /** The process kills itself at a statement to the dead-letter table, counted from now; or counts only. */
  | { readonly type: 'plant'; readonly point: KillPoint | null }
  /** From now on the machine's clock is this far from the right time, as this process sees it. */
  | { readonly type: 'clock'; readonly milliseconds: number }
  /** From now on there is no room for offsets, or there is again. File store only. */
  | { readonly type: 'disk'; readonly full: boolean }
  | { readonly type: 'stop' };

export type FromProcess =
  /** `start()` has resolved. */
  | { readonly type: 'started' }
  | { readonly type: 'report'; readonly id: number; readonly report: ProcessReport }
  /** The pipeline has stopped, or could not start. */
  | { readonly type: 'ended'; readonly error: { readonly code: string; readonly message: string } | null };

const runsPerLife = 10_000;

/** How calls of one term of a life are told from those of its next one: by the epoch. */
export function runOfTerm(run: number, epoch: number): number {
  return run * runsPerLife + epoch;
}

export function lifeOfTerm(run: number): number {
  return Math.floor(run / runsPerLife);
}

export const optionsVariable = 'STRANDLINE_TEST_PIPELINE';

/** Names what runs as the process; by default it is the compiled file. */
export const pipelineProcessVariable = 'STRANDLINE_TEST_PIPELINE_PROCESS';
