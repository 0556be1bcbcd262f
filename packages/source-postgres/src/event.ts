import type { OutboxEvent, Position, Transaction } from '@strandline/core';
import { formatMicros } from './timestamps.js';

/** What all rows of one transaction share. */
export interface TransactionContext {
  /** The server's transaction id, unsigned. */
  readonly xid: number;
  /** Microseconds since 2000-01-01 UTC. */
  readonly commitMicros: bigint;
}

/** How `event.payload` is made from its text. */
export type PayloadFormat = 'json' | 'bytes' | 'text';

export interface EventFields {
  readonly id: string;
  readonly key: string;
  readonly type: string | null;
  readonly payloadText: string | null;
  readonly headersText: string | null;
  readonly columns: Readonly<Record<string, string | null>>;
  readonly bytes: number;
}

const NO_HEADERS: Readonly<Record<string, unknown>> = Object.freeze({});

/**
 * An outbox event of this source. Payload, headers and transaction are made at the first access: most
 * handlers read one of them, and parsing is the dearest part of a small event.
 */
export class PostgresEvent implements OutboxEvent {
  readonly id: string;
  readonly key: string;
  readonly type: string | null;
  readonly payloadText: string | null;
  readonly columns: Readonly<Record<string, string | null>>;
  readonly bytes: number;
  readonly #headersText: string | null;
  readonly #format: PayloadFormat;
  readonly #context: TransactionContext;
  readonly #ordinal: number;
  #payload: unknown = undefined;
  #headers: Readonly<Record<string, unknown>> | undefined = undefined;

  constructor(
    fields: EventFields,
    readonly position: Position,
    readonly table: string,
    format: PayloadFormat,
    context: TransactionContext,
    ordinal: number,
  ) {
    this.id = fields.id;
    this.key = fields.key;
    this.type = fields.type;
    this.payloadText = fields.payloadText;
    this.columns = fields.columns;
    this.bytes = fields.bytes;
    this.#headersText = fields.headersText;
    this.#format = format;
    this.#context = context;
    this.#ordinal = ordinal;
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
      id: String(this.#context.xid),
      ordinal: this.#ordinal,
      commitTime: formatMicros(this.#context.commitMicros),
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
  // bytea_output is set to hex on our connections: \x and two digits a byte.
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
