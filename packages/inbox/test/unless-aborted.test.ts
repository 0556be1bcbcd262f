import { expect, it } from 'vitest';
import { unlessAborted } from '../src/unless-aborted.js';

const reason = new Error('enough');

it('brings what the work brings', async () => {
  const { signal } = new AbortController();
  expect(await unlessAborted(signal, () => Promise.resolve(7))).toBe(7);
  await expect(unlessAborted(signal, () => Promise.reject(reason))).rejects.toBe(reason);
});

it('does not begin when the signal is aborted', async () => {
  let begun = false;
  const work = (): Promise<void> => {
    begun = true;
    return Promise.resolve();
  };
  await expect(unlessAborted(AbortSignal.abort(reason), work)).rejects.toBe(reason);
  expect(begun).toBe(false);
});

it('rejects at once when it aborts meanwhile, and hands what comes late over', async () => {
  const abort = new AbortController();
  let end: (value: number) => void = () => undefined;
  const late: number[] = [];
  const result = unlessAborted(
    abort.signal,
    () =>
      new Promise<number>((resolve) => {
        end = resolve;
      }),
    (value) => late.push(value),
  );
  abort.abort(reason);
  await expect(result).rejects.toBe(reason);
  expect(late).toEqual([]);
  end(7);
  await Promise.resolve();
  expect(late).toEqual([7]);
});

it('and work that fails late fails in silence', async () => {
  const abort = new AbortController();
  let fail: (error: Error) => void = () => undefined;
  const result = unlessAborted(
    abort.signal,
    () =>
      new Promise<never>((_, reject) => {
        fail = reject;
      }),
  );
  abort.abort(reason);
  await expect(result).rejects.toBe(reason);
  fail(new Error('late'));
  await new Promise((resolve) => setImmediate(resolve));
});
