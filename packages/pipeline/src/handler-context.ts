import type { HandlerContext, Logger, OutboxEvent } from '@strandline/core';
import { pipelineError } from './errors.js';
import type { WatchedTurn } from './events/turn-watch.js';
import { idempotencyKey } from './idempotency-key.js';
import type { Term } from './term.js';

/** setTimeout takes no more. */
const LONGEST_DELAY = 2_147_483_647;

/**
 * The context of one turn. Signal and logger are made when asked for: most handlers ask for neither, and an
 * AbortController per event would cost more than the rest of the dispatch.
 */
export class TurnContext implements HandlerContext {
  readonly attempt: number;
  readonly #head: OutboxEvent;
  readonly #term: Term;
  #controller: AbortController | null = null;
  /** Milliseconds that a failure of this turn waits at least. */
  notBefore = 0;
  /** Set where somebody listens to this turn. */
  watched: WatchedTurn | null = null;

  /** @param head the event, or the first one of a batch */
  constructor(head: OutboxEvent, attempt: number, term: Term) {
    this.attempt = attempt;
    this.#head = head;
    this.#term = term;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  get pipeline(): string {
    return this.#term.pipeline;
  }

  get replay(): boolean {
    return this.#term.eventsOf !== this.#term.pipeline;
  }

  get settledBefore(): string | null {
    return this.#term.settledBefore;
  }

  get idempotencyKey(): string {
    if (!this.#term.isBatched) return this.idempotencyKeyOf(this.#head);
    throw pipelineError(
      'PIPELINE_BATCH',
      'A batch has no idempotency key: its events may come in other batches the next time.',
      'Use ctx.idempotencyKeyOf(event) for each of its events.',
    );
  }

  idempotencyKeyOf(event: OutboxEvent): string {
    return idempotencyKey(this.#term.eventsOf, event);
  }

  get log(): Logger {
    const { key, position } = this.#head;
    return this.#term.log.child({ key, position, attempt: this.attempt });
  }

  retryAfter(milliseconds: number): void {
    if (!(milliseconds >= 0 && milliseconds <= LONGEST_DELAY)) {
      throw new RangeError(
        `ctx.retryAfter(${String(milliseconds)}): it takes 0 to ${String(LONGEST_DELAY)} milliseconds.`,
      );
    }
    this.notBefore = milliseconds;
  }

  abort(reason: unknown): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(reason);
  }
}
