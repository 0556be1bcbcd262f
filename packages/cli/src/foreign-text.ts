import { withoutCredentials } from '@strandline/core';

/**
 * What somebody else's error says, in one line. The lines after the first may quote the source of a config or
 * the parameters of a statement; a thrown value that is no error may be a payload.
 */
export function firstLineOf(error: unknown): string {
  if (typeof error === 'string') return withoutCredentials(firstLine(error));
  if (!(error instanceof Error)) return `a value that is no error was thrown (${typeof error})`;
  const text = firstLine(error.message);
  return withoutCredentials(text === '' ? error.name : `${error.name}: ${text}`);
}

/** The frames of an error's stack, without the message above them. */
export function framesOf(error: Error): string[] {
  return (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
}

function firstLine(text: string): string {
  return (text.trim().split('\n', 1)[0] ?? '').trim();
}
