import type { OutboxTable } from '@strandline/source-kit';

/** A mapping with `id` and `key`, and what a test adds. */
export function outboxTable(overrides: Partial<OutboxTable> = {}): OutboxTable {
  return {
    table: 'outbox',
    id: 'id',
    key: 'key',
    type: undefined,
    payload: undefined,
    headers: undefined,
    columns: [],
    snapshotOrder: undefined,
    ...overrides,
  };
}
