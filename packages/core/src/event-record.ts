import type { OutboxEvent, PayloadFormat, Transaction } from './event.js';
import { LazyEvent } from './lazy-event.js';
import type { Position } from './position.js';

/** All that an event is, as texts and numbers: what a store keeps of it. */
export interface EventRecord {
  readonly id: string;
  readonly key: string;
  readonly type: string | null;
  readonly payloadText: string | null;
  readonly payloadFormat: PayloadFormat;
  readonly headersText: string | null;
  readonly columns: Readonly<Record<string, string | null>>;
  readonly position: Position;
  readonly table: string;
  readonly transaction: Transaction;
  readonly bytes: number;
}

/**
 * What is to be stored of an event. Nothing is parsed for it: an event whose payload or headers can't be is one that
 * has to be stored.
 */
export function recordOf(event: OutboxEvent): EventRecord {
  const { id, key, type, payloadText, payloadFormat, headersText, columns, position, table, bytes } = event;
  const { transaction } = event;
  return {
    ...{ id, key, type, payloadText, payloadFormat, headersText, columns, position, table },
    ...{ transaction, bytes },
  };
}

/** The event of a record: the same as the one that the source made, its payload decoded at the first access. */
export function restoreEvent(record: EventRecord): OutboxEvent {
  return new RestoredEvent(record);
}

class RestoredEvent extends LazyEvent {
  readonly key: string;
  readonly position: Position;
  readonly transaction: Transaction;

  constructor(record: EventRecord) {
    super(record, record.table, record.payloadFormat);
    this.key = record.key;
    this.position = record.position;
    this.transaction = record.transaction;
  }
}
