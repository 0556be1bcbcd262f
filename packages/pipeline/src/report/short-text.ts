import { readThrown, withoutCredentials } from '@strandline/core';
import type { InstanceDetails } from './instance-details.js';

/** Characters of a text in a report. A report has some 60 such texts, and 64 KiB for all of them. */
export const LONGEST_KEY = 64;
export const LONGEST_ID = 64;
export const LONGEST_POSITION = 512;
export const LONGEST_WHY = 200;
const LONGEST_NAME = 60;
const LONGEST_MESSAGE = 120;
/** … and so many are searched for credentials: some messages are documents, and reports are made every second. */
const READ_OF_MESSAGE = 4_096;

/** The text, or its beginning and an ellipsis. */
export function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}…`;
}

/** Name, code and the beginning of the message of what was thrown: the lines after the first may quote anything. */
export function shortError(thrown: unknown): NonNullable<InstanceDetails['error']> {
  const { name, code, message } = readThrown(thrown);
  const [line = ''] = withoutCredentials(message.slice(0, READ_OF_MESSAGE)).split('\n', 1);
  return {
    name: cut(name, LONGEST_NAME),
    code: code === null ? null : cut(code, LONGEST_NAME),
    message: cut(line, LONGEST_MESSAGE),
  };
}
