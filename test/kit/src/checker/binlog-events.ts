/** One event of a binlog as far as it matters here. */
export type BinlogEvent =
  /** The beginning of a transaction, or of a statement that is one by itself. */
  | { readonly what: 'group'; readonly gtid: string }
  | { readonly what: 'statement'; readonly text: string }
  /** A row of the outbox. */
  | { readonly what: 'insert'; readonly id: string; readonly key: string }
  | { readonly what: 'xid' }
  /** The end of any event: where the next one can begin, or 0 where the server does not say. */
  | { readonly what: 'end'; readonly offset: number };

/** An outbox in a binlog. Its columns are told by the table maps, which have their names (`binlog_row_metadata = FULL`). */
export interface BinlogTable {
  readonly kind: 'mysql' | 'mariadb';
  readonly database: string;
  readonly table: string;
}

/** As in `#261130 22:18:49 server id 7  end_log_pos 235 CRC32 0x18e05a67 \tGTID\tlast_committed=0…` */
const header = /^#\d{6} +\d+:\d\d:\d\d server id \d+ +end_log_pos (\d+)(?: CRC32 0x[0-9a-f]{8})? \t(.*)$/s;
const unimportant =
  /^(Start: binlog|Previous-GTIDs|Gtid list|Binlog checkpoint|Rotate to|Stop|Transaction_Payload|Rows_query|Annotate_rows|Intvar|Rand|User_var|Ignorable|(Update|Delete)(_compressed)?_rows)/;
const endOfStatement = '/*!*/;';

/**
 * Reads what `mysqlbinlog --verbose --base64-output=decode-rows --print-table-metadata` prints, of MySQL or MariaDB,
 * line by line. Anything else than what these print is an error.
 */
export class BinlogEvents {
  readonly #table: BinlogTable;
  readonly #name: string;
  readonly #take: (event: BinlogEvent) => void;
  #columns: readonly string[] = [];
  #open: { readonly type: string; readonly end: number; readonly lines: string[] } | null = null;

  constructor(table: BinlogTable, take: (event: BinlogEvent) => void) {
    this.#table = table;
    this.#name = `\`${table.database}\`.\`${table.table}\``;
    this.#take = take;
  }

  line(text: string): void {
    const [, end, type] = header.exec(text) ?? [];
    if (type === undefined) {
      // Before the first event there is what a client would need to apply all of it.
      this.#open?.lines.push(text);
    } else {
      this.end();
      this.#open = { type, end: Number(end), lines: [] };
    }
  }

  /** No more lines. */
  end(): void {
    if (this.#open === null) return;
    const { type, end, lines } = this.#open;
    this.#open = null;
    this.#event(type, lines);
    this.#take({ what: 'end', offset: end });
  }

  #event(type: string, lines: readonly string[]): void {
    if (/^(Anonymous_)?GTID\b/.test(type)) {
      this.#group(type, lines);
    } else if (/^(Query|Query_compressed)\t/.test(type) || /^(XA PREPARE|XID =) X'/.test(type)) {
      this.#take({ what: 'statement', text: statementOf(lines) });
    } else if (/^Xid = \d+$/.test(type)) {
      this.#take({ what: 'xid' });
    } else if (type.startsWith('Table_map: ')) {
      if (type.startsWith(`Table_map: ${this.#name} mapped to number `)) this.#columns = columnsOf(lines);
    } else if (/^Write(_compressed)?_rows/.test(type)) {
      this.#inserts(lines);
    } else if (!unimportant.test(type)) {
      throw new Error(`The binlog has an event that this reader does not know: ${type.slice(0, 120)}`);
    }
  }

  /** MySQL names the transaction in a statement that would set its name; MariaDB in the head, and begins it here. */
  #group(type: string, lines: readonly string[]): void {
    const ofMariadb = /^GTID (\d+-\d+-\d+)\b/.exec(type)?.[1];
    const ofMysql = lines.map((line) => /^SET @@SESSION\.GTID_NEXT= '([^']+)'/.exec(line)?.[1]);
    const gtid = ofMariadb ?? ofMysql.find((name) => name !== undefined);
    if (gtid === undefined)
      throw new Error(`The binlog has a transaction without a name: ${type.slice(0, 120)}`);
    this.#take({ what: 'group', gtid });
    const begin = lines.find((line) => /^(START TRANSACTION|XA START )/.test(line));
    if (begin !== undefined) this.#take({ what: 'statement', text: begin.replace(endOfStatement, '') });
  }

  #inserts(lines: readonly string[]): void {
    let row: Map<string, string> | null = null;
    const finish = (): void => {
      if (row !== null)
        this.#take({ what: 'insert', id: this.#value(row, 'id'), key: this.#value(row, 'key') });
    };
    for (const line of lines) {
      const [, into] = /^### INSERT INTO (.*)$/.exec(line) ?? [];
      const [, number, value] = /^### {3}@(\d+)=(.*)$/s.exec(line) ?? [];
      if (into !== undefined) {
        finish();
        row = into === this.#name ? new Map<string, string>() : null;
      } else if (value !== undefined) {
        row?.set(this.#columns[Number(number) - 1] ?? '', value);
      } else if (!/^(### SET$|### Extra row info |# |SET |DELIMITER |ROLLBACK |\/\*!|$)/.test(line)) {
        throw new Error(`The binlog has this among its rows: ${line.slice(0, 120)}`);
      }
    }
    finish();
  }

  #value(row: ReadonlyMap<string, string>, column: string): string {
    const text = row.get(column) ?? '';
    if (/^-?\d+$/.test(text)) return text;
    if (!/^'.*'$/s.test(text)) throw new Error(`A row of the outbox has no ${column}: ${text.slice(0, 120)}`);
    return unescaped(text.slice(1, -1), this.#table.kind);
  }
}

/** The lines up to the delimiter, without what sets the session up for it. */
function statementOf(lines: readonly string[]): string {
  const end = lines.indexOf(endOfStatement);
  if (end < 0)
    throw new Error(`The binlog has a statement without an end: ${lines.join('\n').slice(0, 120)}`);
  return lines
    .slice(0, end)
    .filter((line) => !line.endsWith(endOfStatement))
    .join('\n');
}

/** As in "# Columns(`id` BIGINT NOT NULL," and then "#         `key` VARCHAR(255) …)". */
function columnsOf(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const [, name] = /^# (?:Columns\(| {8})`((?:[^`]|``)+)` /.exec(line) ?? [];
    return name === undefined ? [] : [name.replaceAll('``', '`')];
  });
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  '0': '\0',
  Z: '\x1a',
  "'": "'",
  '"': '"',
  '\\': '\\',
};

/**
 * MySQL escapes quotes, backslashes and control characters. MariaDB escapes control characters alone, so that it can't be
 * told from a text in which somebody has written `\x0a`.
 */
function unescaped(text: string, kind: BinlogTable['kind']): string {
  const control = (hex: string): string => String.fromCharCode(parseInt(hex, 16));
  if (kind === 'mariadb') return text.replace(/\\x([01][0-9a-f])/g, (_, hex: string) => control(hex));
  return text.replace(/\\(?:x([0-9a-f]{2})|(.))/gs, (all, hex: string | undefined, name: string) => {
    const character = hex === undefined ? escapes[name] : control(hex);
    if (character === undefined) throw new Error(`The binlog has an escape that is not known: ${all}`);
    return character;
  });
}
