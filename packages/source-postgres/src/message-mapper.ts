import { EVENT_OVERHEAD, NO_COLUMNS } from '@strandline/core';
import { LosslessNumber, parse, stringify } from 'lossless-json';
import type { OutboxMessages } from './config.js';
import { postgresError, type PostgresSourceError } from './errors.js';
import { PostgresEvent, type TransactionContext } from './event.js';

/**
 * Makes events of a tableless outbox. The content is parsed without turning its numbers into doubles, so a
 * bigint key keeps all its digits, and the payload's text keeps those it was written with.
 */
export class MessageMapper {
  readonly #fields: OutboxMessages;
  readonly #nullKey: 'reject' | 'unordered';

  constructor(fields: OutboxMessages, nullKey: 'reject' | 'unordered') {
    this.#fields = fields;
    this.#nullKey = nullKey;
  }

  get prefix(): string {
    return this.#fields.prefix;
  }

  /** Throws `PG_MESSAGE` or `PG_NULL_KEY` for content that can't be an event. */
  fromContent(
    content: string,
    position: string,
    context: TransactionContext,
    ordinal: number,
  ): PostgresEvent {
    const object = this.#parse(content, position);
    const text = (name: string): string | null => scalarText(object[name]);
    const payload = object[this.#fields.payload];
    const headers = object[this.#fields.headers];
    return new PostgresEvent(
      {
        // A message has no id of its own unless the app gives it one; its position is as stable.
        id: text(this.#fields.id) ?? position,
        type: text(this.#fields.type),
        payloadText: payload === undefined || payload === null ? null : (stringify(payload) ?? null),
        headersText: headers === undefined || headers === null ? null : (stringify(headers) ?? null),
        columns: NO_COLUMNS,
        bytes: content.length + EVENT_OVERHEAD,
      },
      text(this.#fields.key) ?? this.#keyForNull(position),
      position,
      this.#fields.prefix,
      'json',
      context,
      ordinal,
    );
  }

  #parse(content: string, position: string): Record<string, unknown> {
    let value: unknown;
    try {
      value = parse(content);
    } catch {
      throw this.#contentError(position, 'is not JSON');
    }
    // A bare number is an object here, too: the one that keeps its digits.
    if (
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      !(value instanceof LosslessNumber)
    )
      return value as Record<string, unknown>;
    throw this.#contentError(position, 'is not a JSON object');
  }

  #keyForNull(position: string): string {
    if (this.#nullKey === 'unordered') return `unordered:${position}`;
    throw postgresError(
      'PG_NULL_KEY',
      `The message at ${position} has no field ${JSON.stringify(this.#fields.key)}.`,
      "Nothing after it was handed out. Set nullKey: 'unordered' to run messages without a key in any order.",
      { position },
    );
  }

  #contentError(position: string, problem: string): PostgresSourceError {
    return postgresError(
      'PG_MESSAGE',
      `The content of the message at ${position} with prefix ${JSON.stringify(this.#fields.prefix)} ${problem}.`,
      'Nothing after it was handed out. Write a JSON object, or use another prefix for what is not an event.',
      { position },
    );
  }
}

/** The text of a string, number or boolean; null for anything else. */
function scalarText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (value instanceof LosslessNumber) return value.value;
  return typeof value === 'boolean' ? String(value) : null;
}
