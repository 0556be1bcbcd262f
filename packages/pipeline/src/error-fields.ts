import { readThrown, StrandlineError } from '@strandline/core';

/** What of an error goes into a log line. */
export interface ErrorFields {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  /** The key that an error of our own is about. */
  readonly key?: string;
  readonly stack?: string;
  readonly cause?: ErrorFields;
}

/** Causes of causes: enough to find the first one, and an end for circles. */
const DEEPEST_CAUSE = 4;

/**
 * Name, message, code, stack and causes, and nothing else. A logger's own serializer prints every field of an
 * error, and clients keep requests, parameters and credentials in those.
 */
export function errorFields(error: unknown, depth = 0): ErrorFields {
  const { isError, name, message, code, stack, cause } = readThrown(error);
  if (!isError) {
    return {
      type: name,
      message: typeof error === 'string' ? error : 'a value that is no error was thrown',
    };
  }
  return {
    type: name,
    message,
    ...(code === null ? {} : { code }),
    ...(error instanceof StrandlineError && error.key !== undefined ? { key: error.key } : {}),
    ...(stack === null ? {} : { stack }),
    ...(cause === undefined || depth >= DEEPEST_CAUSE ? {} : { cause: errorFields(cause, depth + 1) }),
  };
}
