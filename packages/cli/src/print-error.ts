import { withoutCredentials } from '@strandline/core';
import { firstLineOf, framesOf } from './foreign-text.js';

/** Causes nest; a circle of them must not print for ever. */
const DEEPEST_CAUSE = 5;

export interface PrintOptions {
  /** What it happened to: `pipeline orders`, or the config file. */
  readonly where?: string | undefined;
  /** Print the stack and the causes, too. */
  readonly verbose: boolean;
}

/**
 * One message for one error. Ours: code, problem, remedy, each on its line. Anybody else's is not expected to
 * get here, so it comes with its stack.
 */
export function describeError(error: unknown, { where, verbose }: PrintOptions): string {
  const at = where === undefined ? '' : ` (${where})`;
  const lines = isStrandlineError(error)
    ? [`strandline: ${error.code}${at}`, ...ownLines(error)]
    : [`strandline: unexpected error${at}`, firstLineOf(error)];
  // A broken invariant is a fault of ours: whoever reports it should not have to run into it again.
  const needsStack = verbose || !isStrandlineError(error) || error.code === 'INVARIANT';
  if (needsStack && error instanceof Error) lines.push(...stackOf(error));
  return `${lines.join('\n  ')}\n`;
}

/**
 * Told by its shape: a config may bring its own copy of the packages, whose classes are not the ones of this
 * one.
 */
export interface ErrorOfOurs extends Error {
  readonly code: string;
  readonly remedy: string;
  readonly position?: string;
  readonly key?: string;
}

export function isStrandlineError(error: unknown): error is ErrorOfOurs {
  if (!(error instanceof Error)) return false;
  const { code, remedy } = error as Partial<ErrorOfOurs>;
  return typeof code === 'string' && typeof remedy === 'string';
}

function ownLines({ message, remedy, position, key }: ErrorOfOurs): string[] {
  const problem = message.endsWith(remedy) ? message.slice(0, -remedy.length).trimEnd() : message;
  const place = [
    ...(position === undefined ? [] : [`position ${position}`]),
    ...(key === undefined ? [] : [`key ${key}`]),
  ];
  const texts = [problem, ...(place.length === 0 ? [] : [`At ${place.join(', ')}.`]), remedy];
  return texts.flatMap((text) => text.split('\n'));
}

function stackOf(error: Error): string[] {
  const lines = framesOf(error);
  let { cause } = error;
  for (let depth = 0; depth < DEEPEST_CAUSE && cause !== undefined; depth += 1) {
    lines.push(`caused by ${firstLineOf(cause)}`);
    if (!(cause instanceof Error)) break;
    lines.push(...framesOf(cause));
    cause = cause.cause;
  }
  return lines.map(withoutCredentials);
}
