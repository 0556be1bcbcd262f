import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@strandline/core';
import { isTransient } from './connect-errors.js';

export interface Reconnecting<T> {
  /** Milliseconds: the first wait, and the longest. */
  readonly delays: { readonly initialDelay: number; readonly maxDelay: number };
  readonly closing: AbortSignal;
  readonly log: Logger;
  connect(): Promise<T>;
  /** What is thrown for an error that no retry heals. */
  explain(error: unknown): Error;
}

/** Connects again, for as long as it takes; throws for what can't come right by itself. Null when it was closed. */
export async function connectAgain<T>(failure: unknown, options: Reconnecting<T>): Promise<T | null> {
  const { delays, closing, log } = options;
  let error = failure;
  for (let attempt = 0; ; attempt += 1) {
    if (!isTransient(error)) throw options.explain(error);
    const longest = Math.min(delays.maxDelay, delays.initialDelay * 2 ** attempt);
    const delay = longest * (0.5 + Math.random() / 2);
    log.warn(
      { reason: error instanceof Error ? error.message : String(error), delay: Math.round(delay) },
      'lost the connection to Postgres: connecting again',
    );
    try {
      await sleep(delay, undefined, { signal: closing });
      return await options.connect();
    } catch (next) {
      if (closing.aborted) return null;
      error = next;
    }
  }
}
