import type { OutboxEvent } from '@strandline/core';
import { WebhookRefusedError } from './errors.js';
import type { ValidOptions } from './options.js';
import { shownUrl } from './shown-url.js';

/**
 * Where an event goes.
 *
 * @throws WebhookRefusedError `WEBHOOK_URL` when the rule gives what is none; what the rule throws is passed on.
 */
export function targetOf(
  event: OutboxEvent,
  { url: fixed, urlOf, origins }: Pick<ValidOptions, 'url' | 'urlOf' | 'origins'>,
): URL {
  if (fixed !== null) return fixed;
  const text: unknown = urlOf(event);
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.password !== '') {
    throw new WebhookRefusedError(
      'WEBHOOK_URL',
      `The rule for the URL has given no http or https URL without credentials for the event ${JSON.stringify(event.id)}.`,
      'Correct the function that is given as url.',
    );
  }
  if (origins?.has(url.origin) === false) {
    throw new WebhookRefusedError(
      'WEBHOOK_URL',
      `The rule for the URL has given ${shownUrl(url)}, which is not at one of the origins that are allowed.`,
      'Add its origin to origins, or correct the function that is given as url.',
    );
  }
  return url;
}
