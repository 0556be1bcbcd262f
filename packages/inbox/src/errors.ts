import { PermanentError, StrandlineError, type ErrorDetails } from '@strandline/core';

/**
 * The closed set of codes of this package.
 *
 * - `INBOX_CONFIG`: wrong options, or a pool of another kind.
 * - `INBOX_SCHEMA`: the table is missing and can't be made, or is not as it must be. The message has the statements.
 * - `INBOX_COMMIT`: the connection was lost while the transaction committed, so nobody knows whether it did. The next
 *   attempt finds out: by then the record is there, or it isn't.
 * - `INBOX_ROLLED_BACK`: the server had rolled the transaction back, and the effect caught that error and went on.
 *   Nothing of it has taken place.
 * - `INBOX_ENDED`: the effect ended the transaction itself, so what it did may be committed in parts. A
 *   `PermanentError`: to run it again would do the first part twice.
 */
export type InboxErrorCode = 'INBOX_CONFIG' | 'INBOX_SCHEMA' | 'INBOX_COMMIT' | 'INBOX_ROLLED_BACK';

const TRANSIENT: ReadonlySet<InboxErrorCode> = new Set(['INBOX_COMMIT', 'INBOX_ROLLED_BACK']);

export class InboxError extends StrandlineError<InboxErrorCode> {
  override readonly name = 'InboxError';

  constructor(code: InboxErrorCode, problem: string, remedy: string, details: ErrorDetails = {}) {
    super(code, problem, remedy, { transient: TRANSIENT.has(code), ...details });
  }
}

/** The effect has ended the transaction that it was given. */
export class InboxEndedError extends PermanentError {
  readonly code = 'INBOX_ENDED';

  constructor(cause: unknown) {
    super(
      'The effect of an inbox ended the transaction that it was given, by COMMIT, ROLLBACK or a statement that commits such as CREATE TABLE: what it did may be committed in parts. Leave the transaction to the inbox.',
      { cause },
    );
  }
}

export function configError(problem: string): InboxError {
  return new InboxError('INBOX_CONFIG', problem, 'Correct the call of inbox(pool, effect, { … }).');
}

/** @param ddl what makes the table */
export function schemaError(problem: string, ddl: readonly string[], cause?: unknown): InboxError {
  return new InboxError(
    'INBOX_SCHEMA',
    problem,
    `Make the table as a user who may, with exactly this: ${ddl.join('; ')};`,
    cause === undefined ? {} : { cause },
  );
}

export function commitError(cause: unknown): InboxError {
  return new InboxError(
    'INBOX_COMMIT',
    'The connection was lost while the transaction of an effect and its record was committed.',
    'The next attempt finds out whether it was: nothing is done twice.',
    { cause },
  );
}

export function rolledBackError(cause: unknown): InboxError {
  return new InboxError(
    'INBOX_ROLLED_BACK',
    'The server rolled the transaction of an effect back, and the effect caught that error and went on.',
    'Nothing of it has taken place, and it is tried again. Let such errors pass, or use a savepoint around what may fail.',
    { cause },
  );
}
