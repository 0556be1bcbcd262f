/**
 * The result of the work, unless the signal aborts before: then it rejects with the signal's reason, at once. The work
 * can't be called back; `late` gets what it brings all the same.
 */
export async function unlessAborted<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
  late: (result: T) => void = () => undefined,
): Promise<T> {
  signal.throwIfAborted();
  const running = work();
  let onAbort = (): void => undefined;
  const aborted = new Promise<'aborted'>((resolve) => {
    onAbort = () => {
      resolve('aborted');
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
  const first = await Promise.race([running.then((result) => ({ result })), aborted]).finally(() => {
    signal.removeEventListener('abort', onAbort);
  });
  if (first !== 'aborted') return first.result;
  running.then(late, () => undefined);
  signal.throwIfAborted();
  throw new Error('A signal aborted and is not aborted.');
}
