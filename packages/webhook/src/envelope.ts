import type { OutboxEvent } from '@strandline/core';
import { WebhookRefusedError } from './errors.js';

/**
 * An event as JSON: `type`, `timestamp` and `data` as Standard Webhooks has them, and what names and orders it. The payload
 * stands in it as the database printed it, so no digit of a number is lost; it is the same text at every attempt.
 */
export function envelopeOf(event: OutboxEvent, idempotencyKey: string): string {
  const { id, type, key, position, transaction } = event;
  const fields = { id, idempotencyKey, type, timestamp: transaction.commitTime, key, position };
  return `${JSON.stringify(fields).slice(0, -1)},"data":${dataOf(event)}}`;
}

/** JSON as it is; bytes as base64; text as a JSON string. */
function dataOf({ payloadText, payloadFormat, payload, id }: OutboxEvent): string {
  if (payloadText === null) return 'null';
  switch (payloadFormat) {
    case 'text':
      return JSON.stringify(payloadText);
    case 'bytes':
      return JSON.stringify((payload as Buffer).toString('base64'));
    case 'json':
      return checkedJson(payloadText, id);
  }
}

/**
 * A text column may hold anything, and what is no JSON would make the envelope say something else. The parser's own error
 * is left out: it shows a part of the text.
 */
function checkedJson(text: string, id: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    throw new WebhookRefusedError(
      'WEBHOOK_PAYLOAD',
      `The payload of the event ${JSON.stringify(id)} is not JSON.`,
      'Correct what writes it, or map the column with another payloadFormat.',
    );
  }
}
