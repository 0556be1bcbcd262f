import type { OutboxEvent, PayloadFormat, Transaction } from './event.js';
import type { Position } from './position.js';

/** The texts of an event, as the server prints them. */
export interface EventTexts {
  readonly id: string;
  readonly type: string | null;
  readonly payloadText: string | null;
  readonly headersText: string | null;
  readonly columns: Readonly<Record<string, string | null>>;
  readonly bytes: number;
}

/**
 * What an event costs beside its texts, in bytes: the event and its entry, about 200, and up to as much again for its
 * share of a strand (measured on Node 20 with 200,000 admitted events: 205 with 5,000 keys, 380 with a key each).
 */
export const EVENT_OVERHEAD = 400;

/** An event without mapped extra columns has this record, and no other. */
export const NO_COLUMNS: Readonly<Record<string, string | null>> = Object.freeze({});

const NO_HEADERS: Readonly<Record<string, unknown>> = Object.freeze({});

/**
 * An outbox event whose payload and headers are made at the first access: most handlers read one of them, and
 * parsing is the dearest part of a small event. A source adds where the event lies.
 */
export abstract class LazyEvent implements OutboxEvent {
  readonly id: string;
  readonly type: string | null;
  readonly payloadText: string | null;
  readonly headersText: string | null;
  readonly columns: Readonly<Record<string, string | null>>;
  readonly bytes: number;
  #payload: unknown = undefined;
  #headers: Readonly<Record<string, unknown>> | undefined = undefined;

  constructor(
    texts: EventTexts,
    readonly table: string,
    readonly payloadFormat: PayloadFormat,
  ) {
    this.id = texts.id;
    this.type = texts.type;
    this.payloadText = texts.payloadText;
    this.columns = texts.columns;
    this.bytes = texts.bytes;
    this.headersText = texts.headersText;
  }

  abstract readonly key: string;
  abstract readonly position: Position;
  abstract readonly transaction: Transaction;

  get payload(): unknown {
    if (this.#payload === undefined) this.#payload = decodePayload(this.payloadText, this.payloadFormat);
    return this.#payload;
  }

  get headers(): Readonly<Record<string, unknown>> {
    this.#headers ??= parseHeaders(this.headersText);
    return this.#headers;
  }

  /** Getters are not own properties: without this, JSON and loggers would miss them. */
  toJSON(): Omit<OutboxEvent, 'bytes' | 'payloadFormat' | 'headersText'> {
    const { id, key, type, payload, payloadText, headers, columns, position, table, transaction } = this;
    return { id, key, type, payload, payloadText, headers, columns, position, table, transaction };
  }
}

function decodePayload(text: string | null, format: PayloadFormat): unknown {
  if (text === null) return null;
  if (format === 'json') return JSON.parse(text);
  // Bytes have a mark of two characters (`\x` of Postgres, `0x` of MySQL), then two digits a byte.
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
