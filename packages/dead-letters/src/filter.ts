import type { LetterFilter } from '@strandline/core';
import type { Dialect, Value } from './dialect.js';
import { hashOf, toStored } from './text.js';

export interface Conditions {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Conditions on the letters `l`, each with `and` before it. */
export function conditionsOf(
  pipeline: string,
  { key, type, error, olderThan, state }: LetterFilter,
  dialect: Dialect,
): Conditions {
  const parts: string[] = [];
  const values: Value[] = [];
  const add = (sql: string, ...more: readonly Value[]): void => {
    parts.push(` and ${sql}`);
    values.push(...more);
  };
  if (key !== undefined) add('l.key_hash = ?', hashOf(pipeline, key));
  if (type !== undefined) add(dialect.equals('l.event_type'), toStored(type));
  if (error !== undefined) {
    const columns = ['l.error_name', 'l.error_code', 'l.error_message'];
    const part = toStored(error);
    add(`(${columns.map((column) => `position(? in ${column}) > 0`).join(' or ')})`, part, part, part);
  }
  if (olderThan !== undefined) add('l.parked_at <= ?', new Date(Date.now() - olderThan).toISOString());
  if (state !== undefined) add('l.state = ?', state);
  return { sql: parts.join(''), values };
}
