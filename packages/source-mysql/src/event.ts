import type { OutboxEvent, Position, Transaction } from '@strandline/core';

/** What all rows of one transaction share. */
export interface TransactionContext {
  /** The GTID where the server has one, else `file:offset` of the transaction's start. */
  readonly id: string;
  /** When it was logged, Unix milliseconds; the log has whole seconds. */
  readonly timestamp: number;
  /** The position of one of its rows, made when it is asked for: with GTIDs it is long. */
  position(ordinal: number): Position;
}

/** How `event.payload` is made. */
export type PayloadFormat = 'json' | 'bytes' | 'text';

export interface EventFields {
  readonly id: string;
  readonly key: string | null;
  readonly type: string | null;
  readonly payloadText: string | null;
  readonly headersText: string | null;
  readonly columns: Readonly<Record<string, string | null>>;
  readonly bytes: number;
}

const NO_HEADERS: Readonly<Record<string, unknown>> = Object.freeze({});

/** An outbox event of this source. Position, payload and headers are made at the first access. */
export class MysqlEvent implements OutboxEvent {
  readonly id: string;
  readonly type: string | null;
  readonly payloadText: string | null;
  readonly columns: Readonly<Record<string, string | null>>;
  readonly bytes: number;
  readonly #key: string | null;
  readonly #headersText: string | null;
  readonly #format: PayloadFormat;
  readonly #context: TransactionContext;
  readonly #ordinal: number;
  #position: Position | null = null;
  #payload: unknown = undefined;
  #headers: Readonly<Record<string, unknown>> | undefined = undefined;

  constructor(
    fields: EventFields,
    readonly table: string,
    format: PayloadFormat,
    context: TransactionContext,
    ordinal: number,
  ) {
    this.id = fields.id;
    this.type = fields.type;
    this.payloadText = fields.payloadText;
    this.columns = fields.columns;
    this.bytes = fields.bytes;
    this.#key = fields.key;
    this.#headersText = fields.headersText;
    this.#format = format;
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

  get payload(): unknown {
    if (this.#payload === undefined) this.#payload = decodePayload(this.payloadText, this.#format);
    return this.#payload;
  }

  get headers(): Readonly<Record<string, unknown>> {
    this.#headers ??= parseHeaders(this.#headersText);
    return this.#headers;
  }

  get transaction(): Transaction {
    return {
      id: this.#context.id,
      ordinal: this.#ordinal,
      commitTime: new Date(this.#context.timestamp).toISOString().replace('Z', '000Z'),
    };
  }

  /** Getters are not own properties: without this, JSON and loggers would miss them. */
  toJSON(): Omit<OutboxEvent, 'bytes'> {
    const { id, key, type, payload, payloadText, headers, columns, position, table, transaction } = this;
    return { id, key, type, payload, payloadText, headers, columns, position, table, transaction };
  }
}

function decodePayload(text: string | null, format: PayloadFormat): unknown {
  if (text === null) return null;
  if (format === 'json') return JSON.parse(text);
  // The canonical text of a binary string: 0x and two digits a byte.
  if (format === 'bytes') return Buffer.from(text.slice(2), 'hex');
  return text;
}

function parseHeaders(text: string | null): Readonly<Record<string, unknown>> {
  if (text === null) return NO_HEADERS;
  const headers: unknown = JSON.parse(text);
  return typeof headers === 'object' && headers !== null && !Array.isArray(headers)
    ? (headers as Record<string, unknown>)
    : NO_HEADERS;
}
