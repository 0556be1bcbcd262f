import { useEffect, useRef, useState } from 'preact/hooks';
import { problemFrom, type Problem } from '../api/problem.ts';
import { tokenAsked } from '../browser/session.ts';

export interface Polled<T> {
  /** The newest answer; null before the first. */
  readonly answer: T | null;
  /** Why the newest question has none. */
  readonly problem: Problem | null;
  /** Asks at once. */
  readonly again: () => void;
}

/** Milliseconds between questions; more where the answer takes long, so that looking never costs a twentieth of the process. */
const EVERY = 2_000;
const TIMES = 20;

/** What asks every question of the page again. */
const wakes = new Set<() => void>();

/** To be called when something was changed: what is seen is asked for again at once. */
export function askAgain(): void {
  for (const wake of wakes) wake();
}

/**
 * Asks again and again while the page is seen. `about` says what is asked: when it changes, the old answer goes, and an
 * answer to the old question is not taken for one to the new.
 */
export function usePolled<T>(
  about: string,
  ask: (signal: AbortSignal) => Promise<T>,
  every = EVERY,
): Polled<T> {
  const [state, setState] = useState<{ about: string; answer: T | null; problem: Problem | null }>({
    ...{ about, answer: null, problem: null },
  });
  const asking = useRef(ask);
  asking.current = ask;
  const wake = useRef<() => void>(() => undefined);

  useEffect(() => {
    const ended = new AbortController();
    const { signal } = ended;
    // Woken while an answer is under way: that answer may be from before.
    let timesWoken = 0;
    let endPause: () => void = () => undefined;
    const again = (): void => {
      timesWoken += 1;
      endPause();
    };
    wake.current = again;
    wakes.add(again);
    void (async () => {
      while (!signal.aborted) {
        const before = timesWoken;
        const startedAt = performance.now();
        try {
          const answer = await asking.current(signal);
          if (isAborted(signal)) return;
          setState({ about, answer, problem: null });
        } catch (error) {
          if (isAborted(signal)) return;
          const problem = problemFrom(error);
          if (problem.status === 401) tokenAsked.value = true;
          setState((before) => ({ about, answer: before.about === about ? before.answer : null, problem }));
        }
        const took = performance.now() - startedAt;
        if (timesWoken === before)
          await pause(Math.max(every, took * TIMES), signal, (end) => (endPause = end));
      }
    })();
    return () => {
      wakes.delete(again);
      ended.abort();
    };
  }, [about, every]);

  const current = state.about === about ? state : { answer: null, problem: null };
  return {
    ...{ answer: current.answer, problem: current.problem },
    again: () => {
      wake.current();
    },
  };
}

/** What was not aborted before an await may be so after it. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** Until the time has passed and the page is seen, or somebody wakes it. */
function pause(
  milliseconds: number,
  signal: AbortSignal,
  wakeable: (wake: () => void) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
      signal.removeEventListener('abort', end);
      resolve();
    };
    let due = false;
    const seen = (): void => {
      if (due && !document.hidden) end();
    };
    const timer = setTimeout(() => {
      due = true;
      seen();
    }, milliseconds);
    document.addEventListener('visibilitychange', seen);
    signal.addEventListener('abort', end);
    wakeable(end);
  });
}
