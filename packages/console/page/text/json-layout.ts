const INDENT = '  ';
/** A text in quotes, a number or word, a bracket, a comma or a colon. */
const TOKEN = /"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s{}[\],:"]+/gs;

/**
 * JSON with line breaks. Not a character of its values is changed, which parsing and printing again would do to large
 * numbers, equal names and odd escapes. What is not JSON, or only the beginning of some, comes out as far as it goes.
 */
export function layOut(json: string): string {
  let out = '';
  let depth = 0;
  let before = '';
  const newLine = (): void => {
    out += `\n${INDENT.repeat(Math.max(0, depth))}`;
  };
  for (const [token] of json.matchAll(TOKEN)) {
    const closes = token === '}' || token === ']';
    const opened = before === '{' || before === '[';
    if (closes) depth -= 1;
    if ((closes && !opened) || (!closes && (opened || before === ','))) newLine();
    if (before === ':') out += ' ';
    out += token;
    if (token === '{' || token === '[') depth += 1;
    before = token;
  }
  return out;
}

/** Whether it is worth laying out. */
export function looksLikeJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}
