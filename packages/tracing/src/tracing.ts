import {
  context,
  diag,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Link,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import type { OutboxEvent } from '@strandline/core';
import { listen, type Around, type Turn } from '@strandline/pipeline';
import { attributesOf, spanNameOf } from './attributes.js';
import { errorTypeOf, exceptionOf } from './failure.js';
import { parseTracingOptions, type TracingConfig, type TracingOptions } from './options.js';
import { producerOf } from './producer-context.js';
import { WaitingSpans, type OpenSpan } from './waiting-spans.js';

export interface Tracing {
  /** Listens no longer, and ends the spans of events that wait for their next attempt. Idempotent. */
  close(): void;
}

/**
 * A consumer span for each event, from its first attempt to its end, with its attempts as span events; the handler runs
 * inside of it. Register the tracer provider and its context manager first. Throws `TRACING_CONFIG`.
 */
export function tracing(options: TracingOptions = {}): Tracing {
  const tracer = new TurnTracer(parseTracingOptions(options));
  const ends = [
    listen('strandline:turn:start', (turn) => {
      tracer.start(turn);
    }),
    listen('strandline:ownership:lost', ({ pipeline }) => {
      tracer.giveUp(pipeline);
    }),
  ];
  return {
    close: () => {
      for (const end of ends) end();
      tracer.giveUp();
    },
  };
}

/**
 * Where the handler of an event runs that is not traced, if spans of its own calls shall not be either. Its ids are
 * made up, and in no trace.
 */
const UNTRACED = trace.setSpan(
  ROOT_CONTEXT,
  trace.wrapSpanContext({
    traceId: '00000000000000000000000000000001',
    spanId: '0000000000000001',
    traceFlags: TraceFlags.NONE,
  }),
);
const untraced: Around = (call) => context.with(UNTRACED, call);

type Outcome = Turn['outcome'] | 'given-up';

class TurnTracer {
  readonly #config: TracingConfig;
  readonly #tracer: Tracer;
  readonly #waiting: WaitingSpans;

  constructor(config: TracingConfig) {
    this.#config = config;
    this.#tracer = config.tracer ?? trace.getTracer('strandline');
    this.#waiting = new WaitingSpans(config.waiting, end);
  }

  start(turn: Turn): void {
    if (this.#config.pipelines?.has(turn.pipeline) === false) return;
    const open = turn.attempt > 1 ? this.#waiting.take(turn.event) : this.#begin(turn);
    if (open === null) {
      if (this.#config.suppress) turn.within(untraced);
      return;
    }
    open.span.addEvent('attempt', { 'strandline.attempt': turn.attempt });
    turn.within((call) => context.with(open.context, call));
    turn.whenEnded(() => {
      this.#end(turn, open);
    });
  }

  #end(turn: Turn, open: OpenSpan): void {
    const { span } = open;
    const { outcome, error, attempt } = turn;
    const failed = outcome === 'retry' || outcome === 'narrowed' || outcome === 'exhausted';
    if (failed) span.addEvent('exception', { ...exceptionOf(error), 'strandline.attempt': attempt });
    if (outcome === 'retry') {
      this.#waiting.add(turn.event, open);
      return;
    }
    span.setAttribute('strandline.attempts', attempt);
    if (failed) {
      const type = errorTypeOf(error);
      span.setAttribute('error.type', type);
      span.setStatus({ code: SpanStatusCode.ERROR, message: type });
    }
    end(open, outcome);
  }

  /** Events that wait have no next attempt here. */
  giveUp(pipeline?: string): void {
    this.#waiting.endAll(pipeline);
  }

  /** Null where the event is not traced. */
  #begin(turn: Turn): OpenSpan | null {
    const { producer, ratio } = this.#config;
    const parent = producer === 'parent' && turn.batch === null ? producerOf(turn.event) : null;
    if (parent === null ? !isDrawn(ratio) : (parent.traceFlags & TraceFlags.SAMPLED) === 0) return null;
    const origin = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
    const span = this.#tracer.startSpan(
      spanNameOf(turn),
      {
        kind: SpanKind.CONSUMER,
        attributes: { ...attributesOf(turn), ...this.#own(turn.event) },
        links: parent === null ? linksOf(turn) : [],
      },
      origin,
    );
    return { pipeline: turn.pipeline, span, context: trace.setSpan(origin, span) };
  }

  /** What the user adds. It fails for itself. */
  #own(event: OutboxEvent): ReturnType<NonNullable<TracingConfig['attributes']>> {
    try {
      return this.#config.attributes?.(event) ?? {};
    } catch (error) {
      diag.error('strandline: the attributes of a span can not be made', error);
      return {};
    }
  }
}

function isDrawn(ratio: number): boolean {
  return ratio >= 1 || Math.random() < ratio;
}

/** One for each event that says in what trace it was written. */
function linksOf({ event, batch }: Turn): Link[] {
  return (batch ?? [event])
    .map((each) => ({ context: producerOf(each), id: each.id }))
    .filter((link): link is { context: SpanContext; id: string } => link.context !== null)
    .map((link) => ({ context: link.context, attributes: { 'messaging.message.id': link.id } }));
}

function end({ span }: OpenSpan, outcome: Outcome): void {
  span.setAttribute('strandline.outcome', outcome ?? 'given-up');
  span.end();
}
