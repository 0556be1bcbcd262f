import { problemFrom } from '../api/problem.ts';
import { tell, tellProblem } from '../state/notices.ts';
import { askAgain } from '../state/polled.ts';
import { amount } from '../text/numbers.ts';
import { visible } from '../text/visible.ts';
import { by, tokenAsked } from '../browser/session.ts';

/** Who does it, for the audit log. */
export function signature(): { by?: string } {
  const name = by.value.trim();
  return name === '' ? {} : { by: name };
}

/** Does something and says so, or says why it could not be done. Answers whether it was. */
export async function act<T>(
  what: string,
  run: () => Promise<T>,
  done: (result: T) => string,
  undo: ((result: T) => (() => void) | null) | null = null,
): Promise<boolean> {
  try {
    const result = await run();
    tell(done(result), undo?.(result) ?? null);
    askAgain();
    return true;
  } catch (error) {
    const problem = problemFrom(error);
    if (problem.status === 401) tokenAsked.value = true;
    tellProblem(`${what}: it was not done.`, problem);
    return false;
  }
}

/** One key after the other: what fails for one is told, and the others are done all the same. */
export async function actOnEach(
  what: string,
  keys: readonly string[],
  change: (key: string) => Promise<unknown>,
  became: string,
): Promise<void> {
  let done = 0;
  for (const key of keys) {
    try {
      await change(key);
      done += 1;
    } catch (error) {
      tellProblem(`${what} ${visible(key, 80)}: it was not done.`, problemFrom(error));
    }
  }
  askAgain();
  if (done > 0) tell(`${amount(done, 'key')} ${became}.`);
}
