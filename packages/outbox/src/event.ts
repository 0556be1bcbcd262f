import type { EventKey } from './key.js';

/** A value that has a JSON, or something whose `toJSON` returns one. Checked when it is written. */
export type Payload = unknown;

/** What a column of the application's own may get. Numbers and bigints go as text, so all their digits arrive. */
export type ColumnValue = string | number | bigint | boolean | null;

/** An event that is to be written. */
export interface NewEvent {
  /** Made by us when it isn't given: a UUIDv7. In the table of the preset it is a UUID. */
  readonly id?: string;
  /** What the event is about: events of one key are handled in the order in which they commit. */
  readonly key: EventKey;
  /** What has happened, such as `order.paid`. Left out only where the table has no column for it. */
  readonly type?: string;
  /** By `payloadFormat` a value with a JSON, a text, or bytes. Null or nothing is NULL. */
  readonly payload?: Payload;
  readonly headers?: Readonly<Record<string, unknown>>;
  /** More columns of the application's own table, by their names; every event of one call has the same. */
  readonly columns?: Readonly<Record<string, ColumnValue>>;
}
