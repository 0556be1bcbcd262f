import { createHash } from 'node:crypto';
import type { OutboxEvent } from '@strandline/core';

/** Services cut keys off, or refuse them, at 255 characters and less; the pipeline's name takes up to 51 of these. */
const LONGEST = 140;
/** What a header, a URL and a column take as it is. A hash has a colon, so that no id looks like one. */
const PLAIN = /^[\w./-]+$/;

/**
 * Names an event of a pipeline. The table is a part of it: a pipeline that was given another outbox, whose ids begin
 * anew, has other events.
 */
export function idempotencyKey(pipeline: string, { table, id }: Pick<OutboxEvent, 'table' | 'id'>): string {
  const name = `${table}/${id}`;
  // A slash in a name would let two tables and ids meet.
  const isPlain = name.length <= LONGEST && PLAIN.test(name) && !table.includes('/') && !id.includes('/');
  if (isPlain) return `${pipeline}/${name}`;
  const hash = createHash('sha256')
    .update(JSON.stringify([table, id]))
    .digest('hex');
  return `${pipeline}/sha256:${hash}`;
}
