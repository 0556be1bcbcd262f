import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  /** Default 20 s: far more than a quiet machine needs, and enough for one under load. */
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
  { deadlineMs = 20_000, everyMs = 10 }: WaitOptions = {},
): Promise<NonNullable<T>> {
  const giveUpAt = Date.now() + deadlineMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > giveUpAt) throw new Error(`Waited ${String(deadlineMs)} ms in vain until ${what}.`);
    await delay(everyMs);
  }
}

/**
 * Looks for a while whether something stays as it is, and rejects when it doesn't: for what must not happen, of
 * which no event can tell.
 */
export async function watchFor(
  forMs: number,
  what: string,
  look: () => Promise<boolean> | boolean,
): Promise<void> {
  const until = Date.now() + forMs;
  while (Date.now() < until) {
    if (!(await look())) throw new Error(`It did not stay so for ${String(forMs)} ms: ${what}.`);
    await delay(10);
  }
}
