import { readThrown } from './thrown.js';
import { withoutCredentials } from './without-credentials.js';

/** Characters of the name or the code, and of the message: a report has some 60 such texts, and 64 KiB for all of them. */
const LONGEST_NAME = 60;
const LONGEST_MESSAGE = 120;
/** … and so many are searched for credentials: some messages are documents, and reports are made every second. */
const READ_OF_MESSAGE = 4_096;

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
  const { name, code, message } = readThrown(thrown);
  const [line = ''] = withoutCredentials(message.slice(0, READ_OF_MESSAGE)).split('\n', 1);
  return {
    name: cut(name, LONGEST_NAME),
    code: code === null ? null : cut(code, LONGEST_NAME),
    message: cut(line, LONGEST_MESSAGE),
  };
}

/** Whether both would be told in the same words. */
export function isSameError(one: ShortError, other: ShortError): boolean {
  return one.name === other.name && one.code === other.code && one.message === other.message;
}
