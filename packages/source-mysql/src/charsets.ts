import { queryRows } from './connection.js';
import { mysqlError } from './errors.js';
import type { Session } from './session.js';

/** Reads the bytes of a column; throws for bytes that are no text in its charset. */
export type TextDecoder = (bytes: Buffer) => string;

/** What the server answers for a code of a charset; it is not assigned when that is not one character. */
type Codes = ReadonlyMap<number, string>;

/** Charsets that are decoded without a table. gb18030 has 1.6 million codes, and the library knows them. */
const LIBRARY = new Set(['utf8mb4', 'utf8mb3', 'utf8', 'utf16', 'utf16le', 'utf32', 'ucs2', 'gb18030']);

/** The lead byte of the three-byte codes of the Japanese EUC charsets. */
const THREE_BYTES = 0x8f;

/**
 * The charsets of a server: which collation has which, and what their bytes mean. The library's tables differ
 * from the server's in some characters (0x8160 of sjis, the holes of latin1), and lack some charsets; a key
 * would be two strings. So the tables are the server's own, read when a column first needs them.
 */
export class Charsets {
  readonly #collations: ReadonlyMap<number, string>;
  readonly #decoders = new Map<string, TextDecoder>();
  readonly #wanted = new Set<string>();

  private constructor(collations: ReadonlyMap<number, string>) {
    this.#collations = collations;
  }

  /** @param wanted names of charsets that the columns have now; null for a column that has none */
  static async read(sql: Session, wanted: readonly (string | null)[]): Promise<Charsets> {
    const charsets = new Charsets(await readCollations(sql));
    for (const name of wanted) if (name !== null && !LIBRARY.has(name)) charsets.#wanted.add(name);
    await charsets.load(sql);
    return charsets;
  }

  /** The charset of a collation by its id in the log; undefined for an id that the server does not list. */
  ofCollation(id: number): string | undefined {
    return this.#collations.get(id);
  }

  get incomplete(): boolean {
    return this.#wanted.size > 0;
  }

  /** Reads the tables that were asked for and are not here yet. */
  async load(sql: Session): Promise<void> {
    for (const name of this.#wanted) {
      this.#decoders.set(name, tableDecoder(await readCodes(sql, name)));
      this.#wanted.delete(name);
    }
  }

  /**
   * How a charset's bytes are read; null for one that the library reads as the server does. Throws a transient
   * error for a table that was not read yet: it is, before the log is read again.
   */
  decoder(name: string | null): TextDecoder | null {
    if (name === null || LIBRARY.has(name)) return null;
    const decoder = this.#decoders.get(name);
    if (decoder !== undefined) return decoder;
    this.#wanted.add(name);
    throw mysqlError(
      'MYSQL_TABLE_CHANGED',
      `A column in the log has the charset ${name}, which the table does not have.`,
      'The charset is read from the server, and the log is read again.',
      { transient: true },
    );
  }
}

/** Text in one of the Unicode charsets; null for another charset. */
export function unicodeText(charset: string | null, bytes: Buffer): string | null {
  switch (charset) {
    case 'utf8mb4':
    case 'utf8mb3':
    case 'utf8':
      return bytes.toString('utf8');
    case 'utf16le':
      return bytes.toString('utf16le');
    case 'utf16':
    case 'ucs2':
      return Buffer.from(bytes).swap16().toString('utf16le');
    case 'utf32': {
      const codes = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32BE(index * 4));
      return String.fromCodePoint(...codes);
    }
    default:
      return null;
  }
}

async function readCollations(sql: Session): Promise<ReadonlyMap<number, string>> {
  const text = (table: string): string =>
    `select id as id, character_set_name as charset from information_schema.${table} where id is not null`;
  // Newer MariaDB lists the ids of its many collations there only; others have no ids there.
  const rows = await queryRows(sql, text('collation_character_set_applicability')).catch(() =>
    queryRows(sql, text('collations')),
  );
  return new Map(rows.map((row) => [Number(row['id']), (row['charset'] ?? '').toLowerCase()]));
}

async function readCodes(sql: Session, charset: string): Promise<Codes> {
  const [facts] = await queryRows(
    sql,
    'select maxlen as width from information_schema.character_sets where character_set_name = ?',
    [charset],
  );
  const width = Number(facts?.['width'] ?? 0);
  if (width === 0 || !/^\w+$/.test(charset)) {
    throw mysqlError(
      'MYSQL_DECODE',
      `The server does not know the charset ${charset}.`,
      'Map other columns.',
    );
  }
  const codes = new Map<number, string>();
  await addCodes(sql, charset, codes, 'a.n', 'byte a');
  if (width > 1)
    await addCodes(sql, charset, codes, 'a.n, b.n', 'byte a, byte b where a.n > 127 and b.n > 63');
  if (width > 2) {
    const from = 'byte a, byte b where a.n > 160 and b.n > 160';
    await addCodes(sql, charset, codes, `${String(THREE_BYTES)}, a.n, b.n`, from);
  }
  return codes;
}

async function addCodes(
  sql: Session,
  charset: string,
  codes: Map<number, string>,
  bytes: string,
  from: string,
): Promise<void> {
  const rows = await queryRows(
    sql,
    `with recursive byte as (select 0 as n union all select n + 1 from byte where n < 255)
     select hex(char(${bytes})) as code, convert(convert(char(${bytes}) using ${charset}) using utf8mb4) as text from ${from}`,
  );
  for (const { code, text } of rows) {
    // A question mark stands for what is not assigned.
    if (code === null || code === undefined || text === null || text === undefined) continue;
    const first = String.fromCodePoint(text.codePointAt(0) ?? 0);
    const assigned = text === first && (text !== '?' || code === '3F');
    if (assigned) codes.set(Number.parseInt(code, 16), text);
  }
}

function tableDecoder(codes: Codes): TextDecoder {
  return (bytes) => {
    let text = '';
    for (let at = 0; at < bytes.length;) {
      let code = 0;
      let found: string | undefined;
      for (let width = 1; width <= 3 && found === undefined && at < bytes.length; width += 1) {
        code = code * 256 + (bytes[at] ?? 0);
        at += 1;
        found = codes.get(code);
      }
      if (found === undefined)
        throw new Error(`it has the code 0x${code.toString(16)}, which is not assigned`);
      text += found;
    }
    return text;
  };
}
