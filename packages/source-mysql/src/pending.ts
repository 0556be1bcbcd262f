import { Pending, type PendingOptions } from '@strandline/source-kit';
import type { PassedPlace } from './assembler.js';
import type { MysqlEvent, TransactionContext } from './event.js';
import { WHOLE } from './position.js';

/**
 * The rows of a transaction come at once when its commit is read, as many as the assembler holds. What waits in the
 * kernel's buffers costs no collection.
 */
const OPTIONS: PendingOptions<PassedPlace> = {
  high: { events: 1_024, bytes: 16 * 1024 * 1024 },
  low: { events: 256, bytes: 4 * 1024 * 1024 },
  position: (place) => place.position(WHOLE),
};

/** What was put together and not handed over yet. */
export type MysqlPending = Pending<MysqlEvent, TransactionContext, PassedPlace>;

export function createPending(): MysqlPending {
  return new Pending(OPTIONS);
}
