import type { Attributes } from '@opentelemetry/api';
import { withoutCredentials } from '@strandline/core';

/** Characters of a message that are kept. */
const LONGEST = 200;

/** `error.type`: the code of an error, or its name. */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && code !== '' ? code : error.name;
}

/**
 * What a span event says of what a handler threw: the first line of the message, for the lines after it may quote
 * anything, and where it was thrown.
 */
export function exceptionOf(error: unknown): Attributes {
  if (!(error instanceof Error)) return { 'exception.type': typeof error };
  const [line = ''] = withoutCredentials(error.message).split('\n', 1);
  const frames = (error.stack ?? '').split('\n').filter((text) => /^\s+at /.test(text));
  return {
    'exception.type': errorTypeOf(error),
    'exception.message': line.length <= LONGEST ? line : `${line.slice(0, LONGEST)}…`,
    'exception.stacktrace': [error.name, ...frames].join('\n'),
  };
}
