import type { ColumnFacts, TableFacts } from '../facts.js';
import { kindOf, plain, type Kind } from './words.js';

/** A column that was taken for something, how surely (up to 100), and why. */
export interface Guessed {
  readonly column: string;
  readonly weight: number;
  readonly why: string;
}

/** A column as the guesses see it. */
export interface Seen {
  readonly column: ColumnFacts;
  readonly name: string;
  readonly plain: string;
  readonly kind: Kind;
}

export function seen({ columns }: TableFacts): Seen[] {
  return columns.map((column) => ({
    column,
    name: column.name,
    plain: plain(column.name),
    kind: kindOf(column.type),
  }));
}

/** The one with the highest weight, the first of equals; null when none has any. */
export function best<T extends { readonly weight: number }>(guesses: readonly T[]): T | null {
  return guesses.reduce<T | null>(
    (found, guess) => (guess.weight > (found?.weight ?? 0) ? guess : found),
    null,
  );
}

/** By what it is called, of those that it may be. */
export function byName(
  columns: readonly Seen[],
  names: Readonly<Record<string, number>>,
  kinds: readonly Kind[],
): Guessed[] {
  return columns
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ name, plain, column }) => ({
      column: name,
      weight: Object.hasOwn(names, plain) ? (names[plain] ?? 0) : 0,
      why: column.type,
    }))
    .filter(({ weight }) => weight > 0);
}
