import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  /** Default 10 s. */
  readonly deadlineMs?: number;
  /** Between two looks; default 10 ms. */
  readonly everyMs?: number;
}

/**
 * Looks until `look` gives something truthy, and resolves with that. For states of a server that announces them by
 * no event; what our own code does is awaited by its events.
 */
export async function waitUntil<T>(
  what: string,
  look: () => Promise<T> | T,
  { deadlineMs = 10_000, everyMs = 10 }: WaitOptions = {},
): Promise<NonNullable<T>> {
  const giveUpAt = Date.now() + deadlineMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > giveUpAt) throw new Error(`Waited ${String(deadlineMs)} ms in vain until ${what}.`);
    await delay(everyMs);
  }
}
