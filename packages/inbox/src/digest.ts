import { createHash } from 'node:crypto';
import type { OutboxEvent } from '@strandline/core';

/**
 * What an event is recorded by: ids are texts of any length. The table is a part of it, since a pipeline that was given
 * another outbox, whose ids begin anew, has other events.
 */
export function digestOf({ table, id }: Pick<OutboxEvent, 'table' | 'id'>): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([table, id]))
    .digest();
}
