import type { TableFacts } from '../facts.js';
import { best, byName, type Guessed, type Seen } from './guessed.js';
import { HEADERS, ID, PAYLOAD, TYPE } from './vocabulary.js';

/** What tells one row from the other: the primary key, or the part of it that is called like it. */
export function guessId({ primaryKey }: TableFacts, columns: readonly Seen[]): Guessed | null {
  const [only, ...others] = primaryKey;
  return best(
    columns
      .filter(({ kind }) => ['integer', 'uuid', 'text', 'bytes', 'number', 'other'].includes(kind))
      .map(({ name, plain, column: { type, nullable } }) => {
        const named = Object.hasOwn(ID, plain) ? (ID[plain] ?? 0) : 0;
        if (name === only && others.length === 0)
          return { column: name, weight: Math.max(85, named), why: `${type}, the primary key` };
        const why = primaryKey.includes(name) ? `${type}, of the primary key` : type;
        return { column: name, weight: nullable ? 0 : named, why };
      }),
  );
}

export function guessType(columns: readonly Seen[]): Guessed | null {
  return best(byName(columns, TYPE, ['text', 'integer', 'other']));
}

export function guessPayload(columns: readonly Seen[]): Guessed | null {
  const named = best(byName(columns, PAYLOAD, ['json', 'text', 'bytes']));
  if (named !== null) return named;
  const documents = columns.filter(({ kind, plain }) => kind === 'json' && !Object.hasOwn(HEADERS, plain));
  const [only] = documents;
  if (only === undefined || documents.length > 1) return null;
  return { column: only.name, weight: 65, why: `${only.column.type}, the only document of the row` };
}

/** Of JSON only: what the headers are read from must be an object, and a text may be anything. */
export function guessHeaders(columns: readonly Seen[]): Guessed | null {
  return best(byName(columns, HEADERS, ['json']));
}
