import type { Logger, OutboxEvent, Strand } from '@strandline/core';

/** What a handler gets beside its event. */
export interface HandlerContext {
  /**
   * Aborts when the handler should give up: the pipeline no longer owns the log, or it stops and the time to
   * drain is over. The event counts as not handled unless the handler succeeds all the same.
   */
  readonly signal: AbortSignal;
  /** 1 at the first call for this event, 2 at the first retry, and so on. Starts anew after a restart. */
  readonly attempt: number;
  /** A logger that carries key, position and attempt. */
  readonly log: Logger;
}

/**
 * The context of one turn. Signal and logger are made when asked for: most handlers ask for neither, and an
 * AbortController per event would cost more than the rest of the dispatch.
 */
export class TurnContext implements HandlerContext {
  readonly attempt: number;
  /** Not the strand: when the turn has ended, its head is another event, or there is none. */
  readonly #head: OutboxEvent;
  readonly #log: Logger;
  #controller: AbortController | null = null;
  #abortReason: unknown = undefined;
  #aborted = false;

  constructor(strand: Strand, log: Logger) {
    this.attempt = strand.attempt;
    this.#head = strand.head.event;
    this.#log = log;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort(this.#abortReason);
    return this.#controller.signal;
  }

  get log(): Logger {
    const { key, position } = this.#head;
    return this.#log.child({ key, position, attempt: this.attempt });
  }

  abort(reason: unknown): void {
    this.#aborted = true;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }
}
