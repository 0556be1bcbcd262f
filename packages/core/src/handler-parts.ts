import type { Finding } from './finding.js';
import type { Logger } from './logger.js';

/** What a look at a handler's needs is given. */
export interface HandlerDiagnosisRequest {
  readonly pipeline: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/**
 * What a handler brings along that is more than a function: properties of the function itself, so that
 * `handle: webhook({ … })` is all that a user writes.
 */
export interface HandlerParts {
  /** Whether what it needs is there: a service that answers, a table. Touches nothing and delivers nothing. */
  diagnose?(request: HandlerDiagnosisRequest): Promise<readonly Finding[]>;
  /** Lets go of connections. Called once no call of the handler is under way any more. Idempotent. */
  close?(): Promise<void>;
}
