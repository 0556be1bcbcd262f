import { withoutCredentials } from '@strandline/core';
import type { InstanceDetails } from './instance-details.js';

/** Characters of a text in a report. A report has some 60 such texts, and 64 KiB for all of them. */
export const LONGEST_KEY = 64;
export const LONGEST_ID = 64;
export const LONGEST_POSITION = 512;
const LONGEST_NAME = 60;
const LONGEST_MESSAGE = 120;

/** The text, or its beginning and an ellipsis. */
export function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}…`;
}

/** Name, code and the beginning of the message of what was thrown: the lines after the first may quote anything. */
export function shortError(thrown: unknown): NonNullable<InstanceDetails['error']> {
  if (!(thrown instanceof Error)) return { name: typeof thrown, code: null, message: '' };
  const { code } = thrown as { readonly code?: unknown };
  const [line = ''] = withoutCredentials(thrown.message).split('\n', 1);
  return {
    name: cut(thrown.name, LONGEST_NAME),
    code: typeof code === 'string' || typeof code === 'number' ? cut(String(code), LONGEST_NAME) : null,
    message: cut(line, LONGEST_MESSAGE),
  };
}
