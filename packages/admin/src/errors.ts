import { StrandlineError, type ErrorDetails } from '@strandline/core';

/** Every code that this package raises. */
export type AdminErrorCode =
  /** An address that is none. */
  | 'ADMIN_CONFIG'
  /** The address can't be listened on: it is in use, not of this machine, or not allowed. */
  | 'ADMIN_LISTEN';

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
