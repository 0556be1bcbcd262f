import type { Context, Span } from '@opentelemetry/api';
import type { OutboxEvent } from '@strandline/core';

/** The span of an event, from its first attempt on. */
export interface OpenSpan {
  readonly pipeline: string;
  readonly span: Span;
  /** What the handler runs in. */
  readonly context: Context;
}

/**
 * The spans of events that failed and wait for their next attempt: as many as may be kept. An event is the same object
 * at each of its attempts.
 */
export class WaitingSpans {
  readonly #most: number;
  readonly #end: (span: OpenSpan, outcome: 'retry' | 'given-up') => void;
  /** Longest-waiting first. */
  readonly #spans = new Map<OutboxEvent, OpenSpan>();

  constructor(most: number, end: (span: OpenSpan, outcome: 'retry' | 'given-up') => void) {
    this.#most = most;
    this.#end = end;
  }

  add(event: OutboxEvent, span: OpenSpan): void {
    this.#spans.set(event, span);
    if (this.#spans.size <= this.#most) return;
    for (const [oldest, each] of this.#spans) {
      this.#spans.delete(oldest);
      this.#end(each, 'retry');
      return;
    }
  }

  take(event: OutboxEvent): OpenSpan | null {
    const span = this.#spans.get(event);
    this.#spans.delete(event);
    return span ?? null;
  }

  /** The events have no next attempt here. @param pipeline whose; of all by default */
  endAll(pipeline?: string): void {
    for (const [event, span] of this.#spans) {
      if (pipeline !== undefined && span.pipeline !== pipeline) continue;
      this.#spans.delete(event);
      this.#end(span, 'given-up');
    }
  }
}
