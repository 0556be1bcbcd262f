import type { TableFacts } from '../facts.js';
import { guessHeaders, guessId, guessPayload, guessType } from './columns.js';
import { seen, type Guessed } from './guessed.js';
import { guessKey, type KeyGuess } from './key.js';
import { nameScore } from './table-names.js';
import { QUEUE } from './vocabulary.js';

/** A table read as an outbox. */
export interface Candidate {
  readonly table: TableFacts;
  /** From 0 to 100: the name makes 40 of it, the payload and the key 20 each, the id and the type 10 each. */
  readonly score: number;
  readonly id: Guessed | null;
  readonly key: KeyGuess | null;
  readonly type: Guessed | null;
  readonly payload: Guessed | null;
  readonly headers: Guessed | null;
  /** Columns of a work queue, which nothing here needs. */
  readonly unneeded: readonly string[];
}

/** A table with less is not worth a word. */
const LOOKS_LIKE = 50;
/** The best one is taken unasked when it has so much, and so much more than the next. */
const SURE = { score: 65, ahead: 8, key: 70, payload: 65 };

/** Reads a table as an outbox, by names and types alone. */
export function readAsOutbox(table: TableFacts): Candidate {
  const columns = seen(table);
  const id = guessId(table, columns);
  const type = guessType(columns);
  const payload = guessPayload(columns.filter(({ name }) => name !== type?.column));
  const headers = guessHeaders(columns.filter(({ name }) => name !== payload?.column));
  const key = guessKey(
    columns.filter(({ name }) => name !== payload?.column),
    id?.column ?? null,
  );
  const weights = 0.1 * of(id) + 0.2 * of(key) + 0.1 * of(type) + 0.2 * of(payload);
  return {
    table,
    score: Math.round(nameScore(table.name) + weights),
    ...{ id, key, type, payload, headers },
    unneeded: columns.filter(({ plain }) => QUEUE.has(plain)).map(({ name }) => name),
  };
}

/** The tables that look like an outbox, the likeliest first. */
export function outboxesAmong(tables: readonly TableFacts[]): Candidate[] {
  return tables
    .map(readAsOutbox)
    .filter(({ score, id, payload }) => score >= LOOKS_LIKE && id !== null && payload !== null)
    .toSorted((a, b) => b.score - a.score);
}

/** The one that is taken unasked; null when none is sure, or two are. */
export function surest([first, second]: readonly Candidate[]): Candidate | null {
  if (first === undefined || first.score < SURE.score) return null;
  return first.score - (second?.score ?? 0) >= SURE.ahead ? first : null;
}

/** Whether the key may be taken unasked: it decides the order, so a wrong one is worse than a question. */
export function isKeySure({ key }: Candidate): boolean {
  return key !== null && key.weight >= SURE.key;
}

export function isPayloadSure({ payload }: Candidate): boolean {
  return payload !== null && payload.weight >= SURE.payload;
}

function of(guess: { readonly weight: number } | null): number {
  return guess?.weight ?? 0;
}
