import { findingsOf, type Check, type Finding } from '@strandline/core';
import type { Calls } from '../calls.js';
import type { ValidOptions } from '../options.js';
import { factsOf, type RedisFacts } from './facts.js';
import { KEEPING_CHECKS } from './keeping.js';
import { REACHING_CHECKS } from './reaching.js';

/** Every check of a Redis offset store, in the order in which they are told. */
export const REDIS_CHECKS: readonly Check<RedisFacts>[] = [...REACHING_CHECKS, ...KEEPING_CHECKS];

/** How far Redis can be trusted with an offset, and whether it takes one. Touches nothing. */
export async function diagnose(calls: Calls, options: ValidOptions): Promise<readonly Finding[]> {
  return findingsOf(REDIS_CHECKS, await factsOf(calls, options));
}
