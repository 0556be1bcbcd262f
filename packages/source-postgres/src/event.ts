import {
  LazyEvent,
  type EventTexts,
  type PayloadFormat,
  type Position,
  type Transaction,
} from '@strandline/core';
import type { Lsn } from './lsn.js';
import { logPosition } from './position.js';
import { formatMicros } from './timestamps.js';

/** What all rows of one transaction share. */
export interface TransactionContext {
  /** The server's transaction id, unsigned. */
  readonly xid: number;
  /** Microseconds since 2000-01-01 UTC. */
  readonly commitMicros: bigint;
}

/** Where an event lies: its position, or, in the log, the start of its transaction's commit record. */
export type Place = Position | Lsn;

/** An outbox event of this source. */
export class PostgresEvent extends LazyEvent {
  #place: Place;
  readonly #context: TransactionContext;
  readonly #ordinal: number;

  constructor(
    texts: EventTexts,
    readonly key: string,
    place: Place,
    table: string,
    format: PayloadFormat,
    context: TransactionContext,
    ordinal: number,
  ) {
    super(texts, table, format);
    this.#place = place;
    this.#context = context;
    this.#ordinal = ordinal;
  }

  /** Its text is made when it is asked for: of most events, nobody does. */
  get position(): Position {
    if (typeof this.#place === 'bigint') this.#place = logPosition(this.#place, this.#ordinal);
    return this.#place;
  }

  get transaction(): Transaction {
    return {
      id: String(this.#context.xid),
      ordinal: this.#ordinal,
      commitTime: formatMicros(this.#context.commitMicros),
    };
  }
}
