import { createHash } from 'node:crypto';
import type { HandlerContext, OutboxEvent } from '@strandline/core';
import { envelopeOf } from './envelope.js';
import { WebhookRefusedError } from './errors.js';
import { headerText } from './header-text.js';
import type { ValidOptions } from './options.js';
import { traceContext } from './trace-context.js';

/** What is posted, the same at every attempt but for the headers of the attempt. */
export interface Message {
  readonly url: URL;
  /** `webhook-id`. */
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const JSON_TYPE = 'application/json';
/** Characters of headers that name an event, together. Servers take 8 KiB of headers and more; what these leave is for the rest. */
const MOST_OF_NAMES = 4_096;
/** Characters. The position of a MySQL whose history has many servers is a set of all of theirs. */
const LONGEST_POSITION = 1_024;

/** One event. */
export function messageOf(
  event: OutboxEvent,
  url: URL,
  options: Pick<ValidOptions, 'body'>,
  ctx: Pick<HandlerContext, 'idempotencyKeyOf'>,
): Message {
  const idempotencyKey = ctx.idempotencyKeyOf(event);
  const headers = { ...traceContext(headersOf(event)), 'idempotency-key': idempotencyKey };
  const id = messageId([idempotencyKey]);
  if (options.body === 'payload') {
    const { type, body } = payloadOf(event);
    return {
      url,
      id,
      headers: { 'content-type': type, ...headers, ...metadataOf(event, idempotencyKey) },
      body,
    };
  }
  const body = Buffer.from(envelopeOf(event, idempotencyKey));
  return { url, id, headers: { 'content-type': JSON_TYPE, ...headers }, body };
}

/**
 * Several events as a JSON array. Its name is made of theirs: the same events have the same one, and other events, which
 * is what a redelivery may put together, another one.
 */
export function batchMessage(
  events: readonly { readonly envelope: string; readonly idempotencyKey: string }[],
  url: URL,
): Message {
  const id = messageId(events.map(({ idempotencyKey }) => idempotencyKey));
  const body = Buffer.from(`[${events.map(({ envelope }) => envelope).join(',')}]`);
  return { url, id, headers: { 'content-type': JSON_TYPE, 'idempotency-key': id }, body };
}

/** Standard Webhooks wants no full stop in it, and idempotency keys have them: so it is made of a digest of theirs. */
function messageId(idempotencyKeys: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(idempotencyKeys)).digest('base64url');
  return `evt_${digest}`;
}

/** The text of the column may be no JSON at all: then the event belongs to no trace. */
function headersOf(event: OutboxEvent): Readonly<Record<string, unknown>> {
  try {
    return event.headers;
  } catch {
    return {};
  }
}

function payloadOf({ payloadText, payloadFormat, payload }: OutboxEvent): { type: string; body: Buffer } {
  if (payloadFormat === 'bytes') {
    return { type: 'application/octet-stream', body: (payload as Buffer | null) ?? Buffer.alloc(0) };
  }
  const type = payloadFormat === 'json' ? JSON_TYPE : 'text/plain; charset=utf-8';
  return { type, body: Buffer.from(payloadText ?? (payloadFormat === 'json' ? 'null' : '')) };
}

/** Those of them that are made of values without a limit of their own are bounded: a receiver would refuse them for good. */
function metadataOf(
  { id, key, type, position, transaction }: OutboxEvent,
  idempotencyKey: string,
): Record<string, string> {
  const names = {
    'strandline-key': headerText(key),
    ...(type === null ? {} : { 'strandline-type': headerText(type) }),
    'strandline-id': headerText(id),
  };
  const size = [idempotencyKey, ...Object.values(names)].reduce((sum, { length }) => sum + length, 0);
  if (size > MOST_OF_NAMES) {
    throw new WebhookRefusedError(
      'WEBHOOK_PAYLOAD',
      `Key, type and id of an event, and its idempotency key, take ${String(size)} characters of its headers, and may take ${String(MOST_OF_NAMES)}.`,
      "Use body: 'envelope', which has them in the body.",
    );
  }
  const at = headerText(position);
  return {
    ...names,
    ...(at.length > LONGEST_POSITION ? {} : { 'strandline-position': at }),
    'strandline-timestamp': transaction.commitTime,
  };
}
