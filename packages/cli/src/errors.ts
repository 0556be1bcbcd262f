import { StrandlineError, type ErrorDetails } from '@strandline/core';

/** Every code that this package raises. */
export type CliErrorCode =
  /** There is no config file where it was looked for. */
  | 'CLI_CONFIG_MISSING'
  /** The config file runs, and its default export is no pipeline. */
  | 'CLI_CONFIG_INVALID'
  /** The config file can't be read, compiled or run. */
  | 'CLI_CONFIG_FAILED';

export class CliError extends StrandlineError<CliErrorCode> {
  override readonly name = 'CliError';
}

export function cliError(
  code: CliErrorCode,
  problem: string,
  remedy: string,
  details?: ErrorDetails,
): CliError {
  return new CliError(code, problem, remedy, details);
}
