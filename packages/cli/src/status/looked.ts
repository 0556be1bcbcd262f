import { firstLineOf } from '../foreign-text.js';
import { isStrandlineError } from '../print-error.js';

/** Milliseconds that each of the places may take to answer. */
export const PATIENCE = 5_000;

/** Why something could not be asked. */
export interface Away {
  /** A stable code, or null for an error that is not ours. */
  readonly code: string | null;
  readonly message: string;
}

/** A place that could not be asked. */
export interface Unasked extends Away {
  readonly place: 'offsets' | 'source' | 'deadLetters';
}

/** What a place has answered, or why it has not. */
export type Looked<T> = { readonly value: T } | { readonly away: Away };

/** Asks, and waits so long at most; what is wrong is an answer, too. */
export async function lookAt<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  patience = PATIENCE,
): Promise<Looked<T>> {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`no answer within ${String(patience / 1_000)} s`);
      reject(error);
      late.abort(error);
    }, patience);
  });
  try {
    return { value: await Promise.race([ask(late.signal), deadline]) };
  } catch (error) {
    return { away: awayOf(error) };
  } finally {
    clearTimeout(timer);
  }
}

export function valueOf<T>(looked: Looked<T>): T | null {
  return 'value' in looked ? looked.value : null;
}

function awayOf(error: unknown): Away {
  if (!isStrandlineError(error)) return { code: null, message: firstLineOf(error) };
  return { code: error.code, message: error.message };
}
