import { Pending, type PendingOptions } from '@strandline/source-kit';
import type { PostgresEvent, TransactionContext } from './event.js';
import type { Lsn } from './lsn.js';
import { logPosition } from './position.js';

/**
 * A read of the socket brings some hundred small events, and what waits in the kernel's buffers costs no
 * collection.
 */
const OPTIONS: PendingOptions<Lsn> = {
  high: { events: 1_024, bytes: 16 * 1024 * 1024 },
  low: { events: 256, bytes: 4 * 1024 * 1024 },
  position: (lsn) => logPosition(lsn, 0),
};

/** What was decoded and not handed over yet. */
export type PostgresPending = Pending<PostgresEvent, TransactionContext, Lsn>;

export function createPending(): PostgresPending {
  return new Pending(OPTIONS);
}
