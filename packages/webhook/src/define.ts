import type { HandlerContext, HandlerParts, OutboxEvent } from '@strandline/core';
import { partsOf } from './batches.js';
import { diagnose } from './diagnose.js';
import { messageOf } from './message.js';
import {
  validate,
  validateBatch,
  type BatchWebhookOptions,
  type ValidOptions,
  type WebhookOptions,
} from './options.js';
import { Sender } from './sender.js';
import { targetOf } from './target.js';

export type WebhookHandler = ((event: OutboxEvent, ctx: HandlerContext) => Promise<void>) &
  Required<HandlerParts>;

export type BatchWebhookHandler = ((events: readonly OutboxEvent[], ctx: HandlerContext) => Promise<void>) &
  Required<HandlerParts>;

/**
 * A handler that posts each event to a service, signed as Standard Webhooks has it. 2xx settles the event; what can come
 * right by itself is retried by the pipeline's policy, and not before the request before has ended; for the rest no retry
 * can help.
 *
 * @throws WebhookError `WEBHOOK_CONFIG`; the handler rejects with `WEBHOOK_…`.
 */
export function webhook(options: WebhookOptions): WebhookHandler {
  const valid = validate(options);
  const sender = new Sender(valid);
  return Object.assign(
    async (event: OutboxEvent, ctx: HandlerContext): Promise<void> => {
      await sender.post(messageOf(event, targetOf(event, valid), valid, ctx), event, ctx);
    },
    partsFor(valid, sender),
  );
}

/**
 * The same for a pipeline with `batch`: a JSON array of the events, in as many requests as `max` and `maxBytes` make of
 * them, one after the other. When one fails, the retry begins with it.
 */
export function webhookBatch(options: BatchWebhookOptions): BatchWebhookHandler {
  const valid = validateBatch(options);
  const sender = new Sender(valid);
  /** Of batches of which a later part has failed: they have been taken, and come once more with the rest. */
  const taken = new WeakSet<OutboxEvent>();
  return Object.assign(
    async (events: readonly OutboxEvent[], ctx: HandlerContext): Promise<void> => {
      const rest = events.filter((event) => !taken.has(event));
      for (const part of partsOf(rest, valid, ctx)) {
        await sender.post(part.message, part.head, ctx);
        for (const event of part.events) taken.add(event);
      }
      for (const event of events) taken.delete(event);
    },
    partsFor(valid, sender),
  );
}

function partsFor(valid: ValidOptions, sender: Sender): Required<HandlerParts> {
  return {
    diagnose: ({ signal }) => diagnose(valid, signal),
    close: () => sender.close(),
  };
}
