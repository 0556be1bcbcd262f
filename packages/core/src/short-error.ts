import { withoutCredentials } from './without-credentials.js';

/** Characters of the name or the code, and of the message: a report has some 60 such texts, and 64 KiB for all of them. */
const LONGEST_NAME = 60;
const LONGEST_MESSAGE = 120;

/** An error in one line: what tells it from another, and nothing that could be large. */
export interface ShortError {
  readonly name: string;
  readonly code: string | null;
  readonly message: string;
}

/** The text, or its beginning and an ellipsis. */
export function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}…`;
}

/** Name, code and the beginning of the message of what was thrown: the lines after the first may quote anything. */
export function shortError(thrown: unknown): ShortError {
  if (!(thrown instanceof Error)) return { name: typeof thrown, code: null, message: '' };
  const { code } = thrown as { readonly code?: unknown };
  const [line = ''] = withoutCredentials(textOf(thrown.message)).split('\n', 1);
  return {
    name: cut(textOf(thrown.name), LONGEST_NAME),
    code: typeof code === 'string' || typeof code === 'number' ? cut(String(code), LONGEST_NAME) : null,
    message: cut(line, LONGEST_MESSAGE),
  };
}

/** Whether both would be told in the same words. */
export function isSameError(one: ShortError, other: ShortError): boolean {
  return one.name === other.name && one.code === other.code && one.message === other.message;
}

/** Some libraries put a whole answer where the message belongs. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
