import { createTraceState, isSpanContextValid, type SpanContext } from '@opentelemetry/api';
import type { OutboxEvent } from '@strandline/core';

/** Version, trace, span and flags, as W3C Trace Context has them; a later version than 00 may add more behind. */
const TRACEPARENT = /^(?!ff)(?!00.{54})[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-|$)/;

/** In what trace an event was written; null where nothing, or nothing readable, says so. */
export function producerOf(event: OutboxEvent): SpanContext | null {
  const parent = textOf(event, 'traceparent');
  const match = parent === null ? null : TRACEPARENT.exec(parent.trim());
  if (match === null) return null;
  const [, traceId = '', spanId = '', flags = ''] = match;
  const state = textOf(event, 'tracestate');
  const context: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(state === null ? {} : { traceState: createTraceState(state) }),
  };
  return isSpanContextValid(context) ? context : null;
}

function textOf(event: OutboxEvent, name: string): string | null {
  const value = headersOf(event)[name] ?? event.columns[name];
  return typeof value === 'string' ? value : null;
}

/** Headers of a text column need not be JSON. */
function headersOf(event: OutboxEvent): Readonly<Record<string, unknown>> {
  try {
    return event.headers;
  } catch {
    return {};
  }
}
