/** What test_decoding says of one change of the outbox, or of a transaction. */
export type DecodedLine =
  | { readonly what: 'begin' | 'commit'; readonly xid: string }
  | { readonly what: 'insert'; readonly columns: ReadonlyMap<string, string | null> }
  /** Of another table, or no insert. */
  | { readonly what: 'other' };

/**
 * Reads one line of test_decoding, the plugin that comes with every Postgres: a change can hold line breaks, and is one
 * line all the same, since each comes as a row of its own. Anything else than what the plugin writes is an error.
 *
 * https://www.postgresql.org/docs/current/test-decoding.html
 */
export function readTestDecoding(line: string, table: string): DecodedLine {
  const transaction = /^(BEGIN|COMMIT) (\d+)$/.exec(line);
  if (transaction !== null) {
    const [, word, xid = ''] = transaction;
    return { what: word === 'BEGIN' ? 'begin' : 'commit', xid };
  }
  // Of several tables: "table public.a, public.b: TRUNCATE: …"
  const change = /^table ((?:"(?:[^"]|"")*"|[^":])+): (INSERT|UPDATE|DELETE|TRUNCATE):/.exec(line);
  if (change !== null) {
    const [head, of, action] = change;
    if (of !== table || action !== 'INSERT') return { what: 'other' };
    return { what: 'insert', columns: readColumns(line, head.length) };
  }
  if (line.startsWith('message: transactional: ')) return { what: 'other' };
  throw new Error(`test_decoding says what this reader does not know: ${excerpt(line, 0)}`);
}

/** As in ` id[bigint]:1 "a b"[character varying]:'it''s' tags[text[]]:null`. */
function readColumns(line: string, from: number): Map<string, string | null> {
  const columns = new Map<string, string | null>();
  const head = / ("(?:[^"]|"")*"|[^\s"[]+)\[((?:"(?:[^"]|"")*"|\[\]|[^"[\]])+)\]:/y;
  let at = from;
  while (at < line.length) {
    head.lastIndex = at;
    const [text, name = ''] = head.exec(line) ?? [];
    if (text === undefined) throw new Error(`test_decoding has no column here: ${excerpt(line, at)}`);
    const { value, end } = readValue(line, at + text.length);
    columns.set(unquoted(name, '"'), value);
    at = end;
  }
  return columns;
}

function readValue(line: string, at: number): { value: string | null; end: number } {
  const quote = line.startsWith("B'", at) ? at + 1 : at;
  if (line[quote] === "'") {
    const end = endOfQuoted(line, quote);
    return { value: unquoted(line.slice(quote, end), "'"), end };
  }
  const bare = /[^\s']+/y;
  bare.lastIndex = at;
  const [text] = bare.exec(line) ?? [];
  if (text === undefined) throw new Error(`test_decoding has no value here: ${excerpt(line, at)}`);
  return { value: text === 'null' ? null : text, end: at + text.length };
}

/** Behind the closing quote. By search and not by an expression, which has no stack for values of megabytes. */
function endOfQuoted(line: string, start: number): number {
  for (let at = start + 1; ; at += 2) {
    at = line.indexOf("'", at);
    if (at < 0) throw new Error(`test_decoding has a value without an end: ${excerpt(line, start)}`);
    if (line[at + 1] !== "'") return at + 1;
  }
}

/** Quotes are doubled inside; nothing else is escaped. */
function unquoted(text: string, quote: string): string {
  return text.startsWith(quote) ? text.slice(1, -1).replaceAll(quote + quote, quote) : text;
}

function excerpt(line: string, at: number): string {
  return JSON.stringify(line.slice(at, at + 120));
}
