import {
  LazyEvent,
  type EventTexts,
  type PayloadFormat,
  type Position,
  type Transaction,
} from '@strandline/core';
import { formatMicros } from './timestamps.js';

/** What all rows of one transaction share. */
export interface TransactionContext {
  /** The server's transaction id, unsigned. */
  readonly xid: number;
  /** Microseconds since 2000-01-01 UTC. */
  readonly commitMicros: bigint;
}

/** An outbox event of this source. */
export class PostgresEvent extends LazyEvent {
  readonly #context: TransactionContext;
  readonly #ordinal: number;

  constructor(
    texts: EventTexts,
    readonly key: string,
    readonly position: Position,
    table: string,
    format: PayloadFormat,
    context: TransactionContext,
    ordinal: number,
  ) {
    super(texts, table, format);
    this.#context = context;
    this.#ordinal = ordinal;
  }

  get transaction(): Transaction {
    return {
      id: String(this.#context.xid),
      ordinal: this.#ordinal,
      commitTime: formatMicros(this.#context.commitMicros),
    };
  }
}
