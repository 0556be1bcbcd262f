import { cut, readThrown, type LetterError } from '@strandline/core';

/** Characters that are kept: errors of some libraries carry whole documents. */
const LONGEST_MESSAGE = 4_096;
const LONGEST_STACK = 16_384;
const DEEPEST_CAUSE = 5;

/** What is kept of an error, whatever was thrown. */
export function letterError(thrown: unknown): LetterError {
  const { isError, name, message, code } = readThrown(thrown);
  const said = isError ? message : textOf(thrown);
  return {
    name: isError ? name : 'Error',
    message: cut(said, LONGEST_MESSAGE),
    code,
    stack: cut(stacks(thrown, said).join('\ncaused by '), LONGEST_STACK),
  };
}

/** Of what is no error the letter keeps the text: it is the handler's to choose. */
function textOf(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return `(a value that has no text: ${typeof thrown})`;
  }
}

function stacks(thrown: unknown, said: string): string[] {
  const all: string[] = [];
  for (let at = readThrown(thrown); at.isError && all.length < DEEPEST_CAUSE; at = readThrown(at.cause))
    all.push(at.stack ?? `${at.name}: ${at.message}`);
  return all.length === 0 ? [`Error: ${said}`] : all;
}
