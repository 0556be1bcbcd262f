import type { DatabaseName } from './database/kinds.js';

/** What the parent tells a worker when it starts it, through the environment. */
export interface WorkerSettings {
  readonly database: DatabaseName;
  readonly url: string;
  readonly pipeline: string;
  /** Where the offset file lies; unused with Redis. */
  readonly offsetsDirectory: string;
  readonly redisUrl: string | null;
  /** Counts the worker's lives from 1. */
  readonly run: number;
  /** It is the life that stays up: with the console, and with orders in trouble to be looked at there. */
  readonly stays: boolean;
}

/** The environment variable that holds the settings as JSON. */
export const SETTINGS_VARIABLE = 'STRANDLINE_DEMO_WORKER';

/** What a worker reports to the parent, for the live view only: nothing is counted from it. */
export interface WorkerStatus {
  readonly state: string;
  /** Handlers that are running: busy strands. */
  readonly running: number;
  /** Bytes of log that the source has not handed over yet; null while unknown. */
  readonly lagBytes: number | null;
  /** Events that this life of the worker has handled. */
  readonly handled: number;
  /** Where the console is; null where there is none. */
  readonly console: string | null;
}

/** The parent's one order. SIGINT is no use for it: Ctrl-C reaches the whole process group at once. */
export const STOP = 'stop';
