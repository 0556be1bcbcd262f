/**
 * Waits so many milliseconds for `work`, or until the signal aborts. Its own end no longer matters after that: it
 * can't be called back, and a library may have forgotten it.
 */
export async function inTime<T>(
  milliseconds: number,
  signal: AbortSignal,
  work: Promise<T>,
  expired: () => Error,
): Promise<T> {
  let stop: () => void = () => undefined;
  const over = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => {
      reject(expired());
    }, milliseconds);
    const abort = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    stop();
  }
}
