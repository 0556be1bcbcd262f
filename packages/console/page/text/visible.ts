/** A part of a text: as it is, or a character that can't be seen, by its code. */
export interface Part {
  readonly text: string;
  readonly hidden: boolean;
}

/**
 * What can't be seen, or moves what is around it: controls, marks of direction, what has no width, halves of pairs.
 * Somebody else wrote the text, and two keys that look the same must not be taken for one.
 */
const HIDDEN =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffc]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Splits a text into what can be shown as it is and what must be named. Line feeds stay. */
export function visibleParts(text: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const { index, 0: found } of text.matchAll(HIDDEN)) {
    if (index > from) parts.push({ text: text.slice(from, index), hidden: false });
    parts.push({ text: `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`, hidden: true });
    from = index + found.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), hidden: false });
  return parts;
}

/** The same as one text, for attributes and messages. */
export function visible(text: string, longest = 200): string {
  const shown = visibleParts(text.slice(0, longest))
    .map((part) => part.text)
    .join('')
    .replaceAll('\n', '\\n');
  return text.length > longest ? `${shown}… (${String(text.length)} characters)` : shown;
}
