import { cut, type LetterError } from '@strandline/core';

/** Characters that are kept: errors of some libraries carry whole documents. */
const LONGEST_MESSAGE = 4_096;
const LONGEST_STACK = 16_384;
const DEEPEST_CAUSE = 5;

/** What is kept of an error, whatever was thrown. */
export function letterError(thrown: unknown): LetterError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { code } = error as { readonly code?: unknown };
  return {
    name: error.name,
    message: cut(error.message, LONGEST_MESSAGE),
    code: typeof code === 'string' ? code : null,
    stack: cut(stacks(error).join('\ncaused by '), LONGEST_STACK),
  };
}

function stacks(error: Error): string[] {
  const all: string[] = [];
  for (let at: unknown = error; at instanceof Error && all.length < DEEPEST_CAUSE; at = at.cause)
    all.push(at.stack ?? `${at.name}: ${at.message}`);
  return all;
}
