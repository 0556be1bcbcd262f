import type { SourceBatch } from '@strandline/core';
import type { LiveLog } from './live-log.js';
import type { PostgresPending } from './pending.js';

export interface LiveBatchesOptions {
  readonly pending: PostgresPending;
  /** `committed`: only what other sessions can see. */
  readonly visibility: 'committed' | 'logged';
  readonly closing: AbortSignal;
}

/** The batches of a live log, until it is closed; throws what ended it once all that came before is handed over. */
export async function* liveBatches(
  live: LiveLog,
  { pending, visibility, closing }: LiveBatchesOptions,
): AsyncGenerator<SourceBatch> {
  const { gate } = live;
  live.resume();
  while (!closing.aborted) {
    const batch = pending.take(visibility === 'committed' ? gate.isVisible : always);
    if (batch !== null) {
      if (pending.roomy) live.resume();
      yield batch;
      continue;
    }
    const waiting = pending.first;
    if (waiting !== null) await gate.untilVisible(waiting, closing);
    // What was decoded before a failure is handed over first: the failure counts when nothing is left.
    else if (live.failure !== null) throw live.failure.error;
    else await pending.arrival();
  }
}

const always = (): boolean => true;
