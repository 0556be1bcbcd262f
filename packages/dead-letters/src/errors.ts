import { StrandlineError, type ErrorDetails } from '@strandline/core';

/**
 * The closed set of codes of this package.
 *
 * - `LETTERS_CONFIG`: wrong options, credentials or database name. Stop.
 * - `LETTERS_UNAVAILABLE`: the database can't be reached, did not answer in time, or can't write now. What was asked
 *   for was done as a whole or not at all: ask again.
 * - `LETTERS_SCHEMA`: the tables are missing and can't be made, are of another version, or may not be used. Stop.
 * - `LETTERS_REFUSED`: the database takes this letter never, such as one that is larger than it allows.
 * - `LETTERS_CLOSED`: used after `close()`, or cut short by it.
 */
export type LettersErrorCode =
  'LETTERS_CONFIG' | 'LETTERS_UNAVAILABLE' | 'LETTERS_SCHEMA' | 'LETTERS_REFUSED' | 'LETTERS_CLOSED';

/** An error of the dead-letter table. Neither it nor its `cause` holds a credential or a payload. */
export class LettersError extends StrandlineError<LettersErrorCode> {
  override readonly name = 'LettersError';

  constructor(code: LettersErrorCode, problem: string, remedy: string, details: ErrorDetails = {}) {
    super(code, problem, remedy, { transient: code === 'LETTERS_UNAVAILABLE', ...details });
  }
}

export function configError(problem: string): LettersError {
  return new LettersError('LETTERS_CONFIG', problem, 'Correct the options of the dead-letter table.');
}

export function closedError(name: string): LettersError {
  return new LettersError(
    'LETTERS_CLOSED',
    `The dead-letter table at ${name} was closed here.`,
    'Make a new one: a closed one does not open again.',
  );
}

export function unavailable(name: string, problem: string, cause?: unknown): LettersError {
  return new LettersError(
    'LETTERS_UNAVAILABLE',
    `The dead-letter table at ${name} can't be used now: ${problem}.`,
    'Check that the database is up and that this machine can reach it. A running pipeline tries again by itself, and nothing is lost meanwhile.',
    cause === undefined ? {} : { cause },
  );
}
