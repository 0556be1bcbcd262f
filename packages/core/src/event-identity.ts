import type { OutboxEvent } from './event.js';
import type { Position } from './position.js';

/** What positions of a start snapshot begin with: their rows are not read from the log. */
export const SNAPSHOT_PREFIX: Position = 'snapshot:';

/**
 * What tells an event from every other one of its pipeline, the same at each delivery and on every server: an id can
 * come again in another transaction. A row of the start snapshot has its id alone, for a snapshot that is read on
 * after a crash is another one, and counts anew.
 */
export function identityOf({ table, id, position, transaction }: OutboxEvent): readonly string[] {
  return position.startsWith(SNAPSHOT_PREFIX)
    ? [table, id]
    : [table, id, transaction.id, String(transaction.ordinal)];
}
