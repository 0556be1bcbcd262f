import { eventError, eventOf, OutboxError } from './errors.js';
import type { NewEvent, Payload } from './event.js';
import { exactJson, NotJson } from './exact-json.js';
import type { Param } from './executor.js';
import type { EventLimits, PayloadFormat } from './options.js';
import { isLongerThan, isStorable, STORABLE } from './text.js';
import type { TraceContext } from './trace-context.js';

type Limits = Required<EventLimits>;

/** @throws OutboxError `OUTBOX_EVENT` */
export function typeText(type: string, limits: Limits, key: string): string {
  if (typeof type !== 'string' || type === '' || !isStorable(type))
    throw eventError(
      `The type of ${eventOf(key)} is not a text that can be stored.`,
      `It must be a string that is not empty, with ${STORABLE}.`,
      key,
    );
  if (!isLongerThan(type, limits.type)) return type;
  throw eventError(
    `The type of ${eventOf(key)} has ${String(type.length)} characters, and ${String(limits.type)} at most are allowed.`,
    'Use a shorter one, or raise limits.type if the column takes more.',
    key,
  );
}

/**
 * Null and nothing are NULL.
 *
 * @throws OutboxError `OUTBOX_PAYLOAD`, `OUTBOX_PAYLOAD_TOO_LARGE`
 */
export function payloadParam(payload: Payload, format: PayloadFormat, limits: Limits, key: string): Param {
  if (payload === undefined || payload === null) return null;
  const param = payloadIn(payload, format, key);
  const size = Buffer.byteLength(param);
  if (size <= limits.payload) return param;
  throw new OutboxError(
    'OUTBOX_PAYLOAD_TOO_LARGE',
    `The payload of ${eventOf(key)} has ${String(size)} bytes, and ${String(limits.payload)} at most are allowed.`,
    'Store what is large elsewhere and write where it lies, or raise limits.payload.',
    { key, size, limit: limits.payload },
  );
}

function payloadIn(payload: Payload, format: PayloadFormat, key: string): string | Uint8Array {
  if (format === 'json') return jsonOf(payload, 'payload', 'OUTBOX_PAYLOAD', key);
  const wrong = (rule: string): OutboxError =>
    new OutboxError(
      'OUTBOX_PAYLOAD',
      `The payload of ${eventOf(key)} is not what payloadFormat: '${format}' says.`,
      rule,
      { key },
    );
  if (format === 'bytes') {
    if (payload instanceof Uint8Array) return payload;
    throw wrong('It must be a Buffer or another Uint8Array.');
  }
  if (typeof payload !== 'string' || !isStorable(payload))
    throw wrong(`It must be a string, with ${STORABLE}.`);
  return payload;
}

/**
 * Null when there are none. The trace context is put in, unless the headers have one.
 *
 * @throws OutboxError `OUTBOX_EVENT`
 */
export function headersText(
  headers: NewEvent['headers'],
  trace: TraceContext | null,
  limits: Limits,
  key: string,
): string | null {
  if (headers === undefined && trace === null) return null;
  if (headers !== undefined && !isObject(headers))
    throw eventError(`The headers of ${eventOf(key)} are no object.`, 'Give an object, or none.', key);
  const all =
    trace === null || Object.hasOwn(headers ?? {}, 'traceparent') ? headers : { ...headers, ...trace };
  const text = jsonOf(all, 'headers', 'OUTBOX_EVENT', key);
  const size = Buffer.byteLength(text);
  if (size <= limits.headers) return text;
  throw new OutboxError(
    'OUTBOX_EVENT',
    `The headers of ${eventOf(key)} have ${String(size)} bytes, and ${String(limits.headers)} at most are allowed.`,
    'Put what is large into the payload, or raise limits.headers.',
    { key, size, limit: limits.headers },
  );
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function jsonOf(value: unknown, root: string, code: 'OUTBOX_PAYLOAD' | 'OUTBOX_EVENT', key: string): string {
  try {
    return exactJson(value, root);
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new OutboxError(
      code,
      `In ${eventOf(key)} ${error.path} ${error.reason}: it would be lost or changed.`,
      'Leave it out, or write it as a value that JSON has, such as a text.',
      { key },
    );
  }
}
