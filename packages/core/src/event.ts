import type { Position } from './position.js';

/** The transaction that an event was committed in. */
export interface Transaction {
  /** The server's transaction id as decimal text (Postgres: the 32-bit xid, unsigned). */
  readonly id: string;
  /** 1-based place of the event among the watched rows of its transaction. */
  readonly ordinal: number;
  /** When the transaction committed by the server's clock: ISO 8601, UTC, six digits of microseconds. */
  readonly commitTime: string;
}

/** How `event.payload` is made from its text: parsed, as a Buffer, or as it is. */
export type PayloadFormat = 'json' | 'bytes' | 'text';

/** One committed insert of an outbox table, or one message of a tableless outbox. */
export interface OutboxEvent {
  /** The outbox row's id as the server prints it. The same at every redelivery: deduplicate on it. */
  readonly id: string;
  /**
   * The business key that orders events, as one canonical string: the server's own text of the column, so a
   * bigint key is the same string in the snapshot and in the stream. A key of several columns is the JSON
   * array of their texts.
   */
  readonly key: string;
  /** The text of the mapped type column; null when there is none, or when the row has NULL in it. */
  readonly type: string | null;
  /**
   * The payload, decoded at the first access: json and jsonb are parsed, bytea is a Buffer, anything else is
   * its text. Numbers beyond 2^53 lose digits in `JSON.parse`; `payloadText` has them all.
   */
  readonly payload: unknown;
  /** The payload exactly as the server printed it; null for NULL. */
  readonly payloadText: string | null;
  /** What `payload` is of `payloadText`. */
  readonly payloadFormat: PayloadFormat;
  /** The mapped headers column (a JSON object), parsed at the first access; empty when there is none. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** The headers exactly as the server printed them; null for NULL, or when there is no such column. */
  readonly headersText: string | null;
  /** Further mapped columns (`outbox.columns`), as the server's own text. */
  readonly columns: Readonly<Record<string, string | null>>;
  /** Where the event lies in its source's log. */
  readonly position: Position;
  /** The table with its schema (`public.outbox`), or the message prefix of a tableless outbox. */
  readonly table: string;
  readonly transaction: Transaction;
  /** Roughly what the event holds in memory, in bytes. The window's byte limit counts this. */
  readonly bytes: number;
}
