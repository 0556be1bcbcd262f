import { StrandlineError, type ErrorDetails } from '@strandline/core';

/** Every code that this package raises. */
export type SetupErrorCode =
  /** The connection string can't be read, or names no database. */
  | 'SETUP_URL'
  /** The server can't be reached, or does not answer in time. */
  | 'SETUP_UNREACHABLE'
  /** The server lets this user not in, or not into this database. */
  | 'SETUP_LOGIN'
  /** The server can't serve a pipeline: a standby, too old. */
  | 'SETUP_SERVER'
  /** There is no such table, or its rows can't be events. */
  | 'SETUP_TABLE'
  /** The table has no such column. */
  | 'SETUP_COLUMN'
  /** What was asked for does not go together with this server, or is no name. */
  | 'SETUP_CHOICE'
  /** The server refused a statement of the plan: those before it have run. */
  | 'SETUP_STATEMENT';

export class SetupError extends StrandlineError<SetupErrorCode> {
  override readonly name = 'SetupError';
}

export function setupError(
  code: SetupErrorCode,
  problem: string,
  remedy: string,
  details?: ErrorDetails,
): SetupError {
  return new SetupError(code, problem, remedy, details);
}
