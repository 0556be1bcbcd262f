import { PermanentError, StrandlineError, type ErrorDetails } from '@strandline/core';

/**
 * The closed set of codes of this package. None of the messages has the payload, a header, a secret, a URL's path or query, or
 * anything of what the receiver answered but its status: a receiver may send back what it was sent.
 *
 * - `WEBHOOK_CONFIG`: wrong options.
 * - `WEBHOOK_URL`: the rule for the URL has given none that can be used.
 * - `WEBHOOK_PAYLOAD`: the payload should be JSON and isn't, or what names the event does not fit into headers.
 * - `WEBHOOK_STATUS`: the receiver answered, and did not take it.
 * - `WEBHOOK_REDIRECT`: the receiver wants the event to go somewhere else.
 * - `WEBHOOK_TIMEOUT`: no connection, or no answer, in time.
 * - `WEBHOOK_CONNECT`: the name is not known, or the connection was refused or broke before there was an answer.
 * - `WEBHOOK_TLS`: the receiver's certificate is not trusted, or the receiver does not trust ours.
 * - `WEBHOOK_PRIVATE_ADDRESS`: the receiver's address is private, and those are refused.
 */
export type WebhookErrorCode =
  | 'WEBHOOK_CONFIG'
  | 'WEBHOOK_URL'
  | 'WEBHOOK_PAYLOAD'
  | 'WEBHOOK_STATUS'
  | 'WEBHOOK_REDIRECT'
  | 'WEBHOOK_TIMEOUT'
  | 'WEBHOOK_CONNECT'
  | 'WEBHOOK_TLS'
  | 'WEBHOOK_PRIVATE_ADDRESS';

/** It was not delivered, and the next attempt may be; and wrong options. */
export class WebhookError extends StrandlineError<WebhookErrorCode> {
  override readonly name = 'WebhookError';

  constructor(code: WebhookErrorCode, problem: string, remedy: string, details: ErrorDetails = {}) {
    super(code, problem, remedy, { transient: code !== 'WEBHOOK_CONFIG', ...details });
  }
}

/** It was not delivered, and no retry can help: the failure policy applies at once. */
export class WebhookRefusedError extends PermanentError {
  readonly code: WebhookErrorCode;
  /** What the operator can do about it. */
  readonly remedy: string;

  constructor(code: WebhookErrorCode, problem: string, remedy: string) {
    super(`${problem} ${remedy}`);
    this.code = code;
    this.remedy = remedy;
  }
}

export function configError(problem: string): WebhookError {
  return new WebhookError('WEBHOOK_CONFIG', problem, 'Correct the options of webhook({ … }).');
}
