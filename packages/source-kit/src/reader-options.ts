import { z } from 'zod';

/** Options that every source has. */
export interface ReaderOptions {
  /**
   * `committed` (default): an event is handed out once other sessions can see its transaction. `logged`: at
   * once; a handler that reads the database may not find yet what it was told about.
   */
  readonly visibility?: 'committed' | 'logged';
  /** A row without a key: stop with an error (`reject`, default), or give it a strand of its own (`unordered`). */
  readonly nullKey?: 'reject' | 'unordered';
  /** When another process of this pipeline owns the log: wait as a standby (default), or fail. */
  readonly standby?: 'wait' | 'fail';
  /** Milliseconds to connect, default 10,000. */
  readonly connectTimeout?: number;
  /** Milliseconds without a word from the server after which a connection is given up, default 30,000. */
  readonly silenceTimeout?: number;
  /** Milliseconds; defaults 100 and 10,000. */
  readonly reconnect?: { readonly initialDelay?: number; readonly maxDelay?: number };
}

/** The same, validated, with every default filled in. */
export type ReaderConfig = Required<Omit<ReaderOptions, 'reconnect'>> & {
  readonly reconnect: { readonly initialDelay: number; readonly maxDelay: number };
};

/** setTimeout takes no more. */
const milliseconds = z.number().int().positive().max(2_147_483_647);

/** Their part of a source's schema. */
export const readerFields = {
  visibility: z.enum(['committed', 'logged']).default('committed'),
  nullKey: z.enum(['reject', 'unordered']).default('reject'),
  standby: z.enum(['wait', 'fail']).default('wait'),
  connectTimeout: milliseconds.default(10_000),
  silenceTimeout: milliseconds.min(1_000).default(30_000),
  reconnect: z
    .strictObject({ initialDelay: milliseconds.default(100), maxDelay: milliseconds.default(10_000) })
    .default({ initialDelay: 100, maxDelay: 10_000 }),
};
