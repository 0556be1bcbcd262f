import { createHash } from 'node:crypto';

/**
 * Texts of events and of errors can hold what a text column can't: NUL on Postgres, and half a surrogate pair, which
 * has no UTF-8, anywhere. Each such character becomes U+0001 and its four hexadecimal digits, and so does U+0001
 * itself. All other texts are stored as they are.
 */
const UNSTORABLE = /[\0\u0001\p{Surrogate}]/gu;
const STORED = /\u0001([0-9a-f]{4})/g;

export function toStored(text: string): string {
  return text.replaceAll(
    UNSTORABLE,
    (character) => `\u0001${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function fromStored(text: string): string {
  return text.replaceAll(STORED, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

export function toStoredOrNull(text: string | null): string | null {
  return text === null ? null : toStored(text);
}

/**
 * By what texts of any length are found together: SHA-256. In the tables it always begins with the pipeline's name, so
 * that one index column finds what many pipelines have: a database without statistics may take an index that begins
 * with the pipeline for the best one, and read all that the pipeline has.
 */
export function hashOf(...texts: readonly (string | number)[]): Buffer {
  // JSON escapes halves of surrogate pairs, which have no UTF-8.
  return createHash('sha256').update(JSON.stringify(texts)).digest();
}
