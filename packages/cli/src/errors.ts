import { StrandlineError, type ErrorDetails } from '@strandline/core';

/** Every code that this package raises. */
export type CliErrorCode =
  /** There is no config file where it was looked for. */
  | 'CLI_CONFIG_MISSING'
  /** The config file runs, and its default export is no pipeline. */
  | 'CLI_CONFIG_INVALID'
  /** The config file can't be read, compiled or run. */
  | 'CLI_CONFIG_FAILED'
  /** The config has no such pipeline, or several to choose from. */
  | 'CLI_PIPELINE'
  /** The pipeline has no place for dead letters. */
  | 'CLI_NO_DEAD_LETTERS'
  /** What destroys was asked for without `--yes`, and there is nobody to ask. */
  | 'CLI_CONFIRMATION'
  /** Somebody was asked and did not say yes. */
  | 'CLI_CANCELLED'
  /** There is no letter by that number or of that key, no bookmark by that name, or the key is not held. */
  | 'CLI_NOTHING_FOUND'
  /** A file that was named can't be read. */
  | 'CLI_FILE'
  /** The process that was asked does not answer. */
  | 'CLI_NO_ANSWER'
  /** `init` can't tell it by itself, no flag says it, and there is no terminal to ask on. */
  | 'CLI_INIT_MISSING'
  /** A file that `init` reads or writes: it can't, or the file says something else. */
  | 'CLI_INIT_FILE';

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
