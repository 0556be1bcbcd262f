import type { OutboxEvent } from './event.js';
import type { Logger } from './logger.js';

/** What a handler gets beside its event. */
export interface HandlerContext {
  /** The pipeline's name; in a replay the replay's, so that an inbox keeps records of its own for it. */
  readonly pipeline: string;
  /** True in a replay: the event was handled before, or is by the live pipeline. False otherwise. */
  readonly replay: boolean;
  /**
   * Aborts when the handler should give up: the pipeline no longer owns the log, or it stops and the time to
   * drain is over. The event counts as not handled unless the handler succeeds all the same.
   */
  readonly signal: AbortSignal;
  /** 1 at the first call for this event, 2 at the first retry, and so on. Starts anew after a restart. */
  readonly attempt: number;
  /** A logger that carries key, position and attempt. */
  readonly log: Logger;
  /**
   * Names the event towards an outside service that does a thing once per key: the same for every attempt and every
   * redelivery, replays included, another one for every other event and pipeline. Up to 200 of the characters that a
   * header takes, such as `mails/public.outbox/42`. A batch has none, since its events may come in other batches the
   * next time: this throws there, and `idempotencyKeyOf` names its events one by one.
   */
  readonly idempotencyKey: string;
  idempotencyKeyOf(event: OutboxEvent): string;
  /**
   * What committed before this time is settled and saved: the log does not deliver it again. ISO 8601 UTC, by the
   * clock of the outbox's server; null while it isn't known.
   */
  readonly settledBefore: string | null;
  /**
   * Should this attempt fail, the next one comes no sooner than that, in milliseconds from the failure: what an
   * outside service asked for (`Retry-After`). The attempts that the policy allows are counted all the same.
   */
  retryAfter(milliseconds: number): void;
}
