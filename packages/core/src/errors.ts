import type { Position } from './position.js';

/** What an error carries beside its message. Never a payload, never a credential. */
export interface ErrorDetails {
  readonly cause?: unknown;
  readonly position?: Position | undefined;
  readonly key?: string | undefined;
  /** It may come right by itself: the same call can work later. Default false. */
  readonly transient?: boolean | undefined;
}

/**
 * Every error that Strandline itself raises: a stable `code`, what happened, and what the operator can do.
 * Each package has a closed set of codes in its own `errors.ts`.
 */
export class StrandlineError<Code extends string = string> extends Error {
  override readonly name: string = 'StrandlineError';
  readonly code: Code;
  /** What the operator can do about it. */
  readonly remedy: string;
  readonly position: Position | undefined;
  readonly key: string | undefined;
  /** It may come right by itself. A pipeline that has run before tries again; at the start it is reported. */
  readonly transient: boolean;

  constructor(code: Code, problem: string, remedy: string, details: ErrorDetails = {}) {
    super(`${problem} ${remedy}`, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.remedy = remedy;
    this.position = details.position;
    this.key = details.key;
    this.transient = details.transient ?? false;
  }
}

/** Another process owns the pipeline now. What is in flight here must end, and nothing new may start. */
export class OwnershipLostError extends StrandlineError<'OWNERSHIP_LOST'> {
  override readonly name = 'OwnershipLostError';
  constructor(problem: string, details: ErrorDetails = {}) {
    super(
      'OWNERSHIP_LOST',
      problem,
      'This process stops handing out events and waits as a standby. Nothing is lost.',
      details,
    );
  }
}

/** Thrown by a handler to say that no retry can help: the failure policy applies at once. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError';
}

/** A broken invariant of our own: the process must not go on. */
export class InvariantError extends StrandlineError<'INVARIANT'> {
  override readonly name = 'InvariantError';
  constructor(problem: string) {
    super(
      'INVARIANT',
      problem,
      'This is a fault in Strandline: please report it. The saved offset is intact.',
    );
  }
}

/**
 * Throws unless an invariant holds. Kept in production: losing an event is worse than a crash. A message with
 * parts is given as a function, so that the path of every event does not pay for a text that nobody reads.
 */
export function invariant(holds: boolean, problem: string | (() => string)): asserts holds {
  if (!holds) throw new InvariantError(typeof problem === 'string' ? problem : problem());
}
