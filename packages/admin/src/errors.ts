import { StrandlineError, type ErrorDetails } from '@strandline/core';

/** Every code that this package raises. Those of refused requests are in `guard/access.ts`. */
export type AdminErrorCode =
  /** An address that is none, or a token that no request can carry. */
  | 'ADMIN_CONFIG'
  /** The address can't be listened on: it is in use, not of this machine, or not allowed. */
  | 'ADMIN_LISTEN'
  /** A request that is not as the API describes it. */
  | 'ADMIN_REQUEST'
  /** A request whose body is larger than any that the API describes. */
  | 'ADMIN_TOO_LARGE'
  /** Nothing has answered in time. */
  | 'ADMIN_LATE'
  /** There is no such pipeline, letter, bookmark or replay. */
  | 'ADMIN_NOT_FOUND';

export class AdminError extends StrandlineError<AdminErrorCode> {
  override readonly name = 'AdminError';
}

export function adminError(
  code: AdminErrorCode,
  problem: string,
  remedy: string,
  details?: ErrorDetails,
): AdminError {
  return new AdminError(code, problem, remedy, details);
}
