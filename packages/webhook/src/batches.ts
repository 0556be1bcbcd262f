import type { HandlerContext, OutboxEvent } from '@strandline/core';
import { envelopeOf } from './envelope.js';
import { batchMessage, type Message } from './message.js';
import type { ValidOptions } from './options.js';
import { targetOf } from './target.js';

/** Consecutive events that go out in one request. */
export interface Part {
  readonly head: OutboxEvent;
  readonly events: readonly OutboxEvent[];
  readonly message: Message;
}

interface Item {
  readonly event: OutboxEvent;
  readonly url: URL;
  readonly idempotencyKey: string;
  readonly envelope: string;
  readonly bytes: number;
}

/** Bytes of the array's brackets. */
const FRAME = 2;

/** Splits the events of one key, in order, where a request would be too large, or goes elsewhere. */
export function partsOf(
  events: readonly OutboxEvent[],
  options: Pick<ValidOptions, 'url' | 'urlOf' | 'origins' | 'max' | 'maxBytes'>,
  ctx: Pick<HandlerContext, 'idempotencyKeyOf'>,
): Part[] {
  const parts: { readonly first: Item; readonly items: Item[]; bytes: number }[] = [];
  for (const event of events) {
    const item = itemOf(event, targetOf(event, options), ctx);
    const part = parts.at(-1);
    const fits =
      part?.first.url.href === item.url.href &&
      part.items.length < options.max &&
      part.bytes + item.bytes <= options.maxBytes;
    if (fits) {
      part.items.push(item);
      part.bytes += item.bytes;
    } else parts.push({ first: item, items: [item], bytes: FRAME + item.bytes });
  }
  return parts.map(({ first, items }) => ({
    head: first.event,
    events: items.map(({ event }) => event),
    message: batchMessage(items, first.url),
  }));
}

function itemOf(event: OutboxEvent, url: URL, ctx: Pick<HandlerContext, 'idempotencyKeyOf'>): Item {
  const idempotencyKey = ctx.idempotencyKeyOf(event);
  const envelope = envelopeOf(event, idempotencyKey);
  return { event, url, idempotencyKey, envelope, bytes: Buffer.byteLength(envelope) + 1 };
}
