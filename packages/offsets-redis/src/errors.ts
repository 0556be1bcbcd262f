import { StrandlineError, type ErrorDetails } from '@strandline/core';

/**
 * The closed set of codes of this package.
 *
 * - `OFFSETS_UNAVAILABLE`: Redis can't be reached, does not answer in time or can't write now. Try again.
 * - `OFFSETS_READONLY`: the node was demoted to a replica. The connection is made anew; try again.
 * - `OFFSETS_AUTH`: wrong or missing credentials, or a user without the permissions. Trying again helps only
 *   once the operator has put it right.
 * - `OFFSETS_CORRUPT`: what Redis holds can't be read by this version. Stop.
 * - `OFFSETS_CONFIG`: wrong options, or a server of another kind than they say. Stop.
 * - `OFFSETS_CLOSED`: used after `close()`, or cut short by it.
 */
export type OffsetsErrorCode =
  | 'OFFSETS_UNAVAILABLE'
  | 'OFFSETS_READONLY'
  | 'OFFSETS_AUTH'
  | 'OFFSETS_CORRUPT'
  | 'OFFSETS_CONFIG'
  | 'OFFSETS_CLOSED';

const transientCodes: ReadonlySet<OffsetsErrorCode> = new Set(['OFFSETS_UNAVAILABLE', 'OFFSETS_READONLY']);

/** An error of the Redis offset store. Neither it nor its `cause` holds a credential. */
export class OffsetsError extends StrandlineError<OffsetsErrorCode> {
  override readonly name = 'OffsetsError';

  constructor(code: OffsetsErrorCode, problem: string, remedy: string, details: ErrorDetails = {}) {
    super(code, problem, remedy, { transient: transientCodes.has(code), ...details });
  }
}

export function closedError(store: string): OffsetsError {
  return new OffsetsError(
    'OFFSETS_CLOSED',
    `The offset store ${store} is closed.`,
    'Make a new one with redisOffsets(…): a closed store does not open again.',
  );
}

export function configError(problem: string): OffsetsError {
  return new OffsetsError('OFFSETS_CONFIG', problem, 'Correct the options of the offset store.');
}
