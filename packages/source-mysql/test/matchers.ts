import { expect } from 'vitest';

/** A text that holds `text`. vitest's own matchers are `any`, which would let a misspelt field pass the compiler. */
export function containing(text: string): unknown {
  return expect.stringContaining(text);
}

export function notContaining(text: string): unknown {
  return expect.not.stringContaining(text);
}

export function matching(pattern: RegExp): unknown {
  return expect.stringMatching(pattern);
}
