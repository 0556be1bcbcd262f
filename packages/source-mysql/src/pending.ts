import { Pending, type PendingOptions } from '@strandline/source-kit';
import type { MysqlEvent, TransactionContext } from './event.js';

/** Twice what the assembler holds of one transaction: its rows come at once when its commit is read. */
const OPTIONS: PendingOptions<() => string> = {
  high: { events: 8_192, bytes: 16 * 1024 * 1024 },
  low: { events: 1_024, bytes: 4 * 1024 * 1024 },
  position: (position) => position(),
};

/** What was put together and not handed over yet. */
export type MysqlPending = Pending<MysqlEvent, TransactionContext, () => string>;

export function createPending(): MysqlPending {
  return new Pending(OPTIONS);
}
