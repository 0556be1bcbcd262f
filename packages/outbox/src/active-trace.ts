import type * as Api from '@opentelemetry/api';
import type { GivenTrace } from './trace-context.js';

/** Under this name every copy of the library of version 1 finds what the application has registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

let loading: Promise<typeof Api | null> | undefined;

/**
 * The trace context of the span that is active, if the application has registered an OpenTelemetry SDK. Without one
 * nothing is loaded, so `@opentelemetry/api` need not be there.
 */
export async function activeTrace(): Promise<GivenTrace | null> {
  if (!(REGISTERED in globalThis)) return null;
  const api = await (loading ??= import('@opentelemetry/api').catch(() => null));
  const span = api?.trace.getSpanContext(api.context.active());
  if (span === undefined) return null;
  const flags = (span.traceFlags & 0xff).toString(16).padStart(2, '0');
  return {
    traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
    tracestate: span.traceState?.serialize(),
  };
}
