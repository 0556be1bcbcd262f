import { keyError } from './errors.js';
import { isLongerThan, isStorable, STORABLE } from './text.js';

export type KeyPart = string | number | bigint;

/** The business key: one part, or several. */
export type EventKey = KeyPart | readonly KeyPart[];

/**
 * The key as the source gives it to the handler: the part's text, or the JSON array of the texts of several.
 *
 * @throws OutboxError `OUTBOX_KEY`
 */
export function keyText(key: EventKey): string {
  return isParts(key) ? JSON.stringify(partTexts(key)) : partText(key);
}

/**
 * The texts for the columns of the key. For one column that is the key's text; several take a part each.
 *
 * @param longest characters of each text
 * @throws OutboxError `OUTBOX_KEY`
 */
export function keyTexts(key: EventKey, columns: number, longest: number): readonly string[] {
  const texts = columns === 1 ? [keyText(key)] : isParts(key) ? partTexts(key) : [partText(key)];
  if (texts.length !== columns)
    throw keyError(
      `A key has ${String(texts.length)} parts, and the table ${String(columns)} columns for them.`,
      'Give the parts of the key as an array, in the order of the columns.',
    );
  for (const text of texts) {
    if (!isLongerThan(text, longest)) continue;
    throw keyError(
      `A key has ${String(text.length)} characters, and ${String(longest)} at most are allowed.`,
      'Use a shorter key, or raise limits.key if the column takes more.',
    );
  }
  return texts;
}

// Array.isArray does not narrow readonly arrays.
function isParts(key: EventKey): key is readonly KeyPart[] {
  return Array.isArray(key);
}

function partTexts(parts: readonly KeyPart[]): readonly string[] {
  if (parts.length === 0) throw keyError('A key is an empty array.', 'Give its parts.');
  // Not map, which leaves holes as they are.
  return Array.from(parts, partText);
}

function partText(part: KeyPart): string {
  if (typeof part === 'bigint') return String(part);
  if (typeof part === 'number') {
    // Of a larger one the last digits are gone already, and -0 and fractions have more than one text.
    if (Number.isSafeInteger(part)) return String(part);
    throw keyError(
      'A key is a number that is not a whole one within 2^53.',
      'Give it as a bigint or as text.',
    );
  }
  if (typeof part !== 'string')
    throw keyError(
      `A key, or a part of one, is ${kindOf(part)}.`,
      'It must be a string, a number, a bigint, or an array of these.',
    );
  if (!isStorable(part))
    throw keyError('A key has a character that would be lost.', `It may have ${STORABLE}.`);
  return part;
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `of type ${typeof value}`;
}
