import { isSameError, type ShortError } from './short-error.js';

/** Entries that a history keeps of its beginning and of its end: how it began to fail, and what it fails with now. */
const FIRST = 3;
const LAST = 7;

/** Attempts in a row that failed with the very same error, as far as `shortError` tells it. */
export interface FailedAttempts<Time = string> {
  /** The numbers of the first and the last of them: handler calls for the event, from 1 on. */
  readonly first: number;
  readonly last: number;
  /** When those failed: ISO 8601 UTC, unless something else is said. */
  readonly firstFailedAt: Time;
  readonly lastFailedAt: Time;
  readonly error: ShortError;
}

/**
 * What the attempts of one event failed with, oldest first: at most ten entries. When there were more, those in the middle
 * are left out, and the numbers of the attempts show the gap.
 */
export type FailureHistory<Time = string> = readonly FailedAttempts<Time>[];

/** The history with one more attempt: a part of the last entry when the error is the same. */
export function withAttempt<Time>(
  history: FailureHistory<Time>,
  attempt: number,
  failedAt: Time,
  error: ShortError,
): FailureHistory<Time> {
  const last = history.at(-1);
  if (last !== undefined && isSameError(last.error, error))
    return [...history.slice(0, -1), { ...last, last: attempt, lastFailedAt: failedAt }];
  const one = { first: attempt, last: attempt, firstFailedAt: failedAt, lastFailedAt: failedAt, error };
  return [...withRoom(history), one];
}

/** The entries, so that one more may come: one of the middle is left out when there are as many as there may be. */
export function withRoom<T>(entries: readonly T[]): readonly T[] {
  return entries.length < FIRST + LAST ? entries : [...entries.slice(0, FIRST), ...entries.slice(1 - LAST)];
}

/** The same history on another clock. */
export function timedBy<From, To>(
  history: FailureHistory<From>,
  timed: (time: From) => To,
): FailureHistory<To> {
  return history.map(({ firstFailedAt, lastFailedAt, ...rest }) => ({
    ...rest,
    firstFailedAt: timed(firstFailedAt),
    lastFailedAt: timed(lastFailedAt),
  }));
}
