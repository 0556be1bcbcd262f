import { setTimeout as delay } from 'node:timers/promises';

export interface UntilOptions {
  readonly signal: AbortSignal;
  /** Gives up after this long, in milliseconds. */
  readonly withinMs: number;
}

const LOOK_EVERY_MS = 20;

/**
 * Waits for a condition in another process, which can only be looked at. Resolves with false when it didn't come
 * true in time; throws what `signal` was aborted with.
 */
export async function until(condition: () => boolean, options: UntilOptions): Promise<boolean> {
  const deadline = performance.now() + options.withinMs;
  while (!condition()) {
    if (performance.now() > deadline) return false;
    await sleep(LOOK_EVERY_MS, options.signal);
  }
  return true;
}

/** Sleeps, unless the signal is aborted: then throws what it was aborted with. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(Math.max(0, ms), undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
