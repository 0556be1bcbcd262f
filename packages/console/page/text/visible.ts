/** A part of a text: as it is, or a character that can't be seen, by its code. */
export interface Part {
  readonly text: string;
  readonly hidden: boolean;
}

/**
 * What can't be seen, or moves what is around it: controls, marks of direction, what has no width, halves of pairs.
 * Somebody else wrote the text, and two keys that look the same must not be taken for one.
 */
const HIDDEN = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;

/** Splits a text into what can be shown as it is and what must be named. Line feeds stay. */
export function visibleParts(text: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const { index, 0: found } of text.matchAll(HIDDEN)) {
    if (index > from) parts.push({ text: text.slice(from, index), hidden: false });
    parts.push({ text: codeOf(found), hidden: true });
    from = index + found.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), hidden: false });
  return parts;
}

function codeOf(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}

/** The same as one text, for attributes and messages. */
export function visible(text: string, longest = 200): string {
  const shown = visibleParts(text.slice(0, longest))
    .map((part) => part.text)
    .join('')
    .replaceAll('\n', '\\n');
  return text.length > longest ? `${shown}… (${String(text.length)} characters)` : shown;
}
