import type { Attributes } from '@opentelemetry/api';
import { readThrown, withoutCredentials } from '@strandline/core';

/** Characters of a message that are kept. */
const LONGEST = 200;
/** … and so many are searched for credentials. */
const READ_OF_MESSAGE = 4_096;

/** `error.type`: the code of an error, or its name. */
export function errorTypeOf(error: unknown): string {
  const { isError, code, name } = readThrown(error);
  if (!isError) return '_OTHER';
  return code === null || code === '' ? name : code;
}

/**
 * What a span event says of what a handler threw: the first line of the message, for the lines after it may quote
 * anything, and where it was thrown.
 */
export function exceptionOf(error: unknown): Attributes {
  const { isError, name, message, stack } = readThrown(error);
  if (!isError) return { 'exception.type': name };
  const [line = ''] = withoutCredentials(message.slice(0, READ_OF_MESSAGE)).split('\n', 1);
  const frames = (stack ?? '').split('\n').filter((text) => /^\s+at /.test(text));
  return {
    'exception.type': errorTypeOf(error),
    'exception.message': line.length <= LONGEST ? line : `${line.slice(0, LONGEST)}…`,
    'exception.stacktrace': [name, ...frames].join('\n'),
  };
}
