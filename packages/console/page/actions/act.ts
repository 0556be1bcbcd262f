import { problemFrom } from '../api/problem.ts';
import { tell, tellProblem } from '../state/notices.ts';
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
    return true;
  } catch (error) {
    const problem = problemFrom(error);
    if (problem.status === 401) tokenAsked.value = true;
    tellProblem(`${what}: it was not done.`, problem);
    return false;
  }
}
