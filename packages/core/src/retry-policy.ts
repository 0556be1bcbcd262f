import { PermanentError } from './errors.js';

/** When a failed head is tried again. Times in milliseconds. */
export interface RetryPolicy {
  /** Handler calls in all, the first one included; `Infinity` never gives up. */
  readonly attempts: number;
  /** Give up once this much time has passed since the first failure, whatever `attempts` allows. */
  readonly maxElapsed: number;
  readonly initialDelay: number;
  readonly maxDelay: number;
  readonly factor: number;
  /**
   * `full` draws the delay evenly between zero and the exponential ceiling, which spreads the retries of many
   * keys that failed together (AWS Architecture Blog, "Exponential Backoff And Jitter"); `none` takes the
   * ceiling itself.
   */
  readonly jitter: 'full' | 'none';
  /**
   * Whether an error may be retried at all; by default every one but a `PermanentError`. When it throws itself, which
   * is for the errors that nobody thought of, the error is retried.
   */
  readonly retryable?: ((error: unknown) => boolean) | undefined;
}

/** The ceiling of the delay before call number `attempt + 1`, in milliseconds. */
export function delayCeiling(policy: RetryPolicy, attempt: number): number {
  // factor ** attempt overflows to Infinity for large attempts, and an initialDelay of 0 times that is NaN: a
  // time that is never due and that no heap can order.
  const growth = Math.min(Number.MAX_VALUE, policy.factor ** (attempt - 1));
  return Math.min(policy.maxDelay, policy.initialDelay * growth);
}

/**
 * The delay before the next call, or null to give up.
 * @param attempt calls made so far, at least 1
 * @param elapsed milliseconds since the first failure of this event
 * @param random a number in [0, 1)
 */
export function nextDelay(
  policy: RetryPolicy,
  attempt: number,
  elapsed: number,
  error: unknown,
  random: number,
): number | null {
  if (!isRetryable(policy, error)) return null;
  if (attempt >= policy.attempts || elapsed >= policy.maxElapsed) return null;
  const ceiling = delayCeiling(policy, attempt);
  return policy.jitter === 'full' ? ceiling * random : ceiling;
}

/** A question that can't be answered must not end the process: the event would be delivered again, and asked about again. */
function isRetryable({ retryable }: RetryPolicy, error: unknown): boolean {
  try {
    return !(error instanceof PermanentError) && retryable?.(error) !== false;
  } catch {
    return true;
  }
}
