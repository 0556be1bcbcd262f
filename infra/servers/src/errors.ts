/**
 * The closed set of codes of this package.
 *
 * - `SERVER_UNAVAILABLE`: none of the ways to get the server works on this machine.
 * - `SERVER_START_FAILED`: the server was found, but did not come up.
 * - `SERVER_NOT_OURS`: the server was handed in by a connection string, so it can't be stopped or killed.
 * - `SERVER_CLEANUP_FAILED`: a database or slot could not be removed.
 */
export type ServerErrorCode =
  'SERVER_UNAVAILABLE' | 'SERVER_START_FAILED' | 'SERVER_NOT_OURS' | 'SERVER_CLEANUP_FAILED';

/** An error of the test servers: what happened, then what the person at the machine can do about it. */
export class ServerError extends Error {
  override readonly name = 'ServerError';
  readonly code: ServerErrorCode;
  readonly remedy: string;

  constructor(code: ServerErrorCode, problem: string, remedy: string, cause?: unknown) {
    super(`${problem}\n${remedy}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.remedy = remedy;
  }
}

/** The first line of what went wrong, for a list of reasons. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
