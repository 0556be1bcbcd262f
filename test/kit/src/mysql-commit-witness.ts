import type { RowDataPacket } from 'mysql2/promise';
import type { CommittedEvent } from './commit-witness.js';
import type { HistoryEntry } from './history.js';
import type { TestMysqlDatabase } from './mysql-fixture.js';

/**
 * What committed, in commit order, by the server's own word: SHOW BINLOG EVENTS, with the statements whose tokens
 * tell which rows of the table are theirs. It shares no code with what is tested, and knows also of commits whose
 * answer never arrived. An event's position here is `<GTID>#<ordinal in the transaction>`: see `witnessed`.
 */
export class MysqlCommitWitness {
  readonly #db: TestMysqlDatabase;
  readonly #start: { readonly file: string; readonly offset: number };

  /** Before the first insert; needs the table of `createMysqlOutbox`, and rows of `insertMysqlRows`. */
  static async start(db: TestMysqlDatabase): Promise<MysqlCommitWitness> {
    const [logs] = await db.pool.query<RowDataPacket[]>('SHOW BINARY LOGS');
    const last = logs.at(-1);
    return new MysqlCommitWitness(db, {
      file: String(last?.['Log_name']),
      offset: Number(last?.['File_size']),
    });
  }

  private constructor(db: TestMysqlDatabase, start: { readonly file: string; readonly offset: number }) {
    this.#db = db;
    this.#start = start;
  }

  /** All rows up to now. */
  async events(): Promise<CommittedEvent[]> {
    const rows = await this.#rowsByToken();
    const events: CommittedEvent[] = [];
    for (const { gtid, tokens } of await this.#transactions()) {
      const own = tokens.flatMap((token) => rows.get(token) ?? []);
      for (const [index, row] of own.entries())
        events.push({ ...row, position: `${gtid}#${String(index + 1)}` });
    }
    return events;
  }

  /** Those that committed, with the tokens of their statements in order. */
  async #transactions(): Promise<{ gtid: string; tokens: string[] }[]> {
    const committed: { gtid: string; tokens: string[] }[] = [];
    let open = { gtid: '', tokens: [] as string[] };
    for await (const { type, info } of this.#log()) {
      const gtid = /GTID_NEXT= '([^']+)'|GTID ([\d-]+)/.exec(info);
      if (/^gtid/i.test(type)) {
        open = { gtid: gtid?.[1] ?? gtid?.[2] ?? '', tokens: [] };
      } else if (/^(rows_query|annotate_rows)$/i.test(type)) {
        const token = /token ([0-9a-f-]{36})/.exec(info)?.[1];
        if (token !== undefined) open.tokens.push(token);
      } else if (type === 'Xid' || (type === 'Query' && info === 'COMMIT')) {
        committed.push(open);
      }
    }
    return committed;
  }

  async *#log(): AsyncGenerator<{ type: string; info: string }> {
    const [files] = await this.#db.pool.query<RowDataPacket[]>('SHOW BINARY LOGS');
    const names = files.map((row) => String(row['Log_name']));
    for (const name of names.slice(names.indexOf(this.#start.file))) {
      const from = name === this.#start.file ? ` FROM ${String(this.#start.offset)}` : '';
      const [events] = await this.#db.pool.query<RowDataPacket[]>(`SHOW BINLOG EVENTS IN ?${from}`, [name]);
      for (const event of events) yield { type: String(event['Event_type']), info: String(event['Info']) };
    }
  }

  async #rowsByToken(): Promise<Map<string, { id: string; key: string }[]>> {
    const [rows] = await this.#db.pool.query<RowDataPacket[]>(
      'SELECT CAST(id AS CHAR) AS id, `key`, token FROM outbox ORDER BY outbox.id',
    );
    const byToken = new Map<string, { id: string; key: string }[]>();
    for (const row of rows) {
      const of = byToken.get(String(row['token'])) ?? [];
      of.push({ id: String(row['id']), key: String(row['key']) });
      byToken.set(String(row['token']), of);
    }
    return byToken;
  }
}

/** A history whose positions are those of the witness: `<server>;<file>;<ordinal>;<gtid>;…` as `<gtid>#<ordinal>`. */
export function witnessed(entries: readonly HistoryEntry[]): HistoryEntry[] {
  return entries.map((entry) => ({
    ...entry,
    positions: entry.positions.map((position) => {
      const [, , ordinal = '', gtid = ''] = position.split(';');
      return `${gtid}#${ordinal}`;
    }),
  }));
}
