import type { Attributes, Tracer } from '@opentelemetry/api';
import { describeConfigIssues, type OutboxEvent } from '@strandline/core';
import type { Pipeline } from '@strandline/pipeline';
import { z } from 'zod';
import { TracingError } from './errors.js';

export interface TracingOptions {
  /** Whose turns are traced. Default: those of all pipelines of the process. */
  readonly pipelines?: readonly Pipeline[];
  /** Default: the tracer `strandline` of the registered provider. */
  readonly tracer?: Tracer;
  /**
   * Which share of the events is traced, 0 to 1; default all. It is drawn at the first attempt, before a span is made:
   * a sampler of the SDK can leave out more of them, but is asked for each span that was made.
   */
  readonly ratio?: number;
  /**
   * What the span of an event is to the trace of who has written it (`traceparent` in the event's headers, or in a
   * mapped column of that name): `link` (default) begins a trace of its own that has a link there; `parent` goes on with
   * that trace, and then its decision to sample counts instead of `ratio`. A batch always has links.
   */
  readonly producer?: 'link' | 'parent';
  /**
   * Whether the handler's own spans are left out, too, where its event is not traced. By default each begins a trace,
   * if the sampler of the SDK lets it. To leave them out costs every such call about a third of a microsecond.
   */
  readonly suppress?: boolean;
  /** Further attributes of an event's span: what you choose leaves the process. A key, for instance. */
  attributes?(event: OutboxEvent): Attributes;
  /**
   * Spans of events that failed and wait for their next attempt, at most; default 1,000. Beyond that the oldest ends
   * early, with the outcome `retry`, and the event's later attempts are not traced.
   */
  readonly waiting?: number;
}

export interface TracingConfig {
  readonly pipelines: ReadonlySet<string> | null;
  readonly tracer: Tracer | undefined;
  readonly ratio: number;
  readonly producer: 'link' | 'parent';
  readonly suppress: boolean;
  readonly attributes: ((event: OutboxEvent) => Attributes) | undefined;
  readonly waiting: number;
}

const schema = z.strictObject({
  pipelines: z.array(z.custom<Pipeline>(isNamed, 'must be a pipeline of definePipeline({ … })')).optional(),
  tracer: z
    .custom<Tracer>((value) => hasMethod(value, 'startSpan'), 'must be a Tracer of OpenTelemetry')
    .optional(),
  ratio: z.number().min(0).max(1).default(1),
  producer: z.enum(['link', 'parent']).default('link'),
  suppress: z.boolean().default(false),
  attributes: z
    .custom<(event: OutboxEvent) => Attributes>((value) => typeof value === 'function', 'must be a function')
    .optional(),
  waiting: z.number().int().min(0).default(1_000),
});

/** Throws `TRACING_CONFIG` with field, value and rule. */
export function parseTracingOptions(options: TracingOptions): TracingConfig {
  const result = schema.safeParse(options);
  if (!result.success) {
    throw new TracingError(
      'TRACING_CONFIG',
      describeConfigIssues('tracing', options, result.error.issues),
      'Correct the options of tracing({ … }).',
    );
  }
  const { pipelines, tracer, ...rest } = result.data;
  const names = pipelines === undefined ? null : new Set(pipelines.map(({ name }) => name));
  const attributes = options.attributes?.bind(options);
  return Object.freeze({ ...rest, attributes, tracer, pipelines: names });
}

function isNamed(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && typeof (value as { name?: unknown }).name === 'string'
  );
}

function hasMethod(value: unknown, name: string): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Record<string, unknown>)[name] === 'function'
  );
}
