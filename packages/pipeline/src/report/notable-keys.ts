import { cut, shortError, type Strand } from '@strandline/core';
import type { InstanceDetails } from './instance-details.js';
import { LONGEST_KEY } from './short-text.js';
import { Top } from './top.js';

/** How many of each kind a report names. */
export const NAMED = 10;
/**
 * So many strands are looked at. They come in the order in which they came to live, and a strand lives while it has
 * events: what is slow, hot or failing is among the first. The whole look takes about a millisecond.
 */
export const LOOKED_AT = 10_000;

export interface NotableKeys extends Pick<InstanceDetails, 'failing' | 'hot'> {
  /** There are more keys than it looks at. */
  readonly partial: boolean;
}

/** The keys that fail longest and those with most events. @param now on the clock of the executor's times */
export function notableKeys(strands: Iterable<Strand>, now: number): NotableKeys {
  const failing = new Top<Strand>(NAMED);
  const hot = new Top<Strand>(NAMED);
  let looked = 0;
  let partial = false;
  for (const strand of strands) {
    if (looked === LOOKED_AT) {
      partial = true;
      break;
    }
    looked += 1;
    if (!Number.isNaN(strand.firstFailedAt)) failing.offer(strand, -strand.firstFailedAt);
    if (strand.length > 1) hot.offer(strand, strand.length);
  }
  return {
    failing: failing.items.map((strand) => ({
      key: cut(strand.key, LONGEST_KEY),
      state: strand.state,
      events: strand.length,
      attempt: strand.attempt,
      age: seconds(now - strand.firstFailedAt),
      nextTryIn: strand.state === 'backoff' ? seconds(Math.max(0, strand.dueAt - now)) : null,
      error: shortError(strand.lastError),
    })),
    hot: hot.items.map(({ key, length }) => ({ key: cut(key, LONGEST_KEY), events: length })),
    partial,
  };
}

/** To a tenth. */
export function seconds(milliseconds: number): number {
  return Math.round(milliseconds / 100) / 10;
}
