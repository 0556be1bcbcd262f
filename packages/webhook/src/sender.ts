import type { ErrorDetails, HandlerContext, OutboxEvent } from '@strandline/core';
import { WebhookError, WebhookRefusedError } from './errors.js';
import { exchange } from './exchange.js';
import { failureOf } from './failures.js';
import type { Message } from './message.js';
import type { ValidOptions } from './options.js';
import { outcomeOf, type Answer } from './outcome.js';
import { Pools } from './pools.js';
import { shownUrl } from './shown-url.js';
import { signatureOf } from './signature.js';

/** Posts messages, one attempt each, and says by its error whether another one can help. */
export class Sender {
  readonly #options: ValidOptions;
  readonly #pools: Pools;
  #underWay = 0;

  constructor(options: ValidOptions) {
    this.#options = options;
    this.#pools = new Pools(options);
  }

  /**
   * @param head the event, or the first one of several
   * @throws WebhookError, WebhookRefusedError, and the reason of `ctx.signal`.
   */
  async post(message: Message, head: OutboxEvent, ctx: HandlerContext): Promise<void> {
    const { permanent, maxRetryAfter } = this.#options;
    const details = { position: head.position, key: head.key };
    const answer = await this.#attempt(message, details, ctx);
    const outcome = outcomeOf(answer, { permanent, maxRetryAfter }, Date.now());
    if (outcome.kind === 'settled') return;
    if (outcome.kind === 'retry' && outcome.after !== null) ctx.retryAfter(outcome.after);
    throw notTaken(outcome.kind, answer.status, message.url, details);
  }

  /** Ends the connections. With requests under way, of another pipeline that has the same handler, those that are idle. */
  async close(): Promise<void> {
    await this.#pools.close(this.#underWay > 0);
  }

  async #attempt(message: Message, details: ErrorDetails, ctx: HandlerContext): Promise<Answer> {
    const { url, body } = message;
    const { timeout } = this.#options;
    const { signal } = ctx;
    this.#underWay += 1;
    try {
      return await this.#pools.use(url.origin, (pool) => {
        const headers = this.#headersOf(message, ctx);
        return exchange(pool, { path: url.pathname + url.search, headers, body, timeout, signal });
      });
    } catch (error) {
      throw signal.aborted ? signal.reason : failureOf(error, url, timeout, details);
    } finally {
      this.#underWay -= 1;
    }
  }

  /** Those of the message, and those of the attempt: the signature is about the time of it. */
  #headersOf({ id, headers, body }: Message, ctx: HandlerContext): Record<string, string> {
    const timestamp = Math.floor(Date.now() / 1_000);
    const signature = signatureOf(this.#options.signers, id, timestamp, body);
    return {
      'user-agent': 'strandline',
      ...headers,
      ...this.#options.headers,
      'strandline-attempt': String(ctx.attempt),
      ...(ctx.replay ? { 'strandline-replay': 'true' } : {}),
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      ...(signature === null ? {} : { 'webhook-signature': signature }),
    };
  }
}

/** An answer that is none of the good ones. */
function notTaken(
  kind: 'redirect' | 'permanent' | 'retry',
  status: number,
  url: URL,
  details: ErrorDetails,
): Error {
  const shown = shownUrl(url);
  const problem = `${shown} has answered ${String(status)}.`;
  switch (kind) {
    case 'redirect':
      return new WebhookRefusedError(
        'WEBHOOK_REDIRECT',
        `${shown} has answered ${String(status)}, a redirect, and those are not followed.`,
        'Name the URL that it leads to.',
      );
    case 'permanent':
      return new WebhookRefusedError(
        'WEBHOOK_STATUS',
        problem,
        status === 410
          ? 'The receiver wants no more events: take this webhook out.'
          : 'No retry follows after this status; permanent says which ones those are.',
      );
    case 'retry':
      return new WebhookError('WEBHOOK_STATUS', problem, 'The log of the receiver says more.', details);
  }
}
