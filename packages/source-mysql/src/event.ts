import {
  LazyEvent,
  type EventTexts,
  type PayloadFormat,
  type Position,
  type Transaction,
} from '@strandline/core';

/** What all rows of one transaction share. */
export interface TransactionContext {
  /** The GTID where the server has one, else `file:offset` of the transaction's start. */
  readonly id: string;
  /** When it was logged, Unix milliseconds; the log has whole seconds. */
  readonly timestamp: number;
  /** The position of one of its rows, made when it is asked for: with GTIDs it is long. */
  position(ordinal: number): Position;
}

/** An outbox event of this source. Its position is made at the first access too: with GTIDs it is long. */
export class MysqlEvent extends LazyEvent {
  readonly #key: string | null;
  readonly #context: TransactionContext;
  readonly #ordinal: number;
  #position: Position | null = null;

  constructor(
    texts: EventTexts,
    key: string | null,
    table: string,
    format: PayloadFormat,
    context: TransactionContext,
    ordinal: number,
  ) {
    super(texts, table, format);
    this.#key = key;
    this.#context = context;
    this.#ordinal = ordinal;
  }

  get key(): string {
    // A row without a key, where that is allowed, has a strand of its own.
    return this.#key ?? `unordered:${this.position}`;
  }

  get position(): Position {
    this.#position ??= this.#context.position(this.#ordinal);
    return this.#position;
  }

  get transaction(): Transaction {
    return {
      id: this.#context.id,
      ordinal: this.#ordinal,
      commitTime: new Date(this.#context.timestamp).toISOString().replace('Z', '000Z'),
    };
  }
}
