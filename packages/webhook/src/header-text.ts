/** What RFC 3986 leaves as it is; all else of a text is the %XX of its UTF-8. */
const PLAIN = /^[\w.~-]*$/;

/** Any text as a value of a header, the way URLs do it: every language has a function that undoes it. */
export function headerText(text: string): string {
  if (PLAIN.test(text)) return text;
  let encoded = '';
  for (const byte of Buffer.from(text, 'utf8')) {
    const character = String.fromCharCode(byte);
    encoded +=
      byte < 0x80 && PLAIN.test(character)
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}
