import { retryAfterOf } from './retry-after.js';

/** What a receiver has answered, as far as it counts. */
export interface Answer {
  readonly status: number;
  /** The header `Retry-After` as it came. */
  readonly retryAfter: string | null;
}

export interface OutcomeRules {
  /** Whether no retry can help after this status, which is neither 2xx nor 3xx. */
  readonly permanent: (status: number) => boolean;
  /** Milliseconds that a receiver can hold a key up for at most. */
  readonly maxRetryAfter: number;
}

/** What follows from an answer. `after`: the next attempt comes no sooner, in milliseconds. */
export type Outcome =
  | { readonly kind: 'settled' }
  | { readonly kind: 'redirect' }
  | { readonly kind: 'permanent' }
  | { readonly kind: 'retry'; readonly after: number | null };

/**
 * Of the statuses that blame the request, those that can come right by themselves: a time-out, a conflict with something
 * that goes on there, the wrong server of several, too early, too many.
 */
const TEMPORARY: ReadonlySet<number> = new Set([408, 409, 421, 425, 429]);

export function isPermanent(status: number): boolean {
  return status >= 400 && status < 500 && !TEMPORARY.has(status);
}

/** @param now milliseconds since 1970 */
export function outcomeOf({ status, retryAfter }: Answer, rules: OutcomeRules, now: number): Outcome {
  if (status >= 200 && status < 300) return { kind: 'settled' };
  if (status >= 300 && status < 400) return { kind: 'redirect' };
  if (rules.permanent(status)) return { kind: 'permanent' };
  const asked = retryAfter === null ? null : retryAfterOf(retryAfter, now);
  return { kind: 'retry', after: asked === null ? null : Math.min(asked, rules.maxRetryAfter) };
}
