import type { RowDataPacket } from 'mysql2/promise';
import { CommitWitness, type CommittedTransaction } from './commit-witness.js';
import type { TestMysqlDatabase } from './mysql-fixture.js';

/**
 * SHOW BINLOG EVENTS, with the statements whose tokens tell which rows of the table are theirs. Positions are
 * `<file>:<offset of the transaction>/<GTID>#<ordinal in the transaction>`.
 */
export class MysqlCommitWitness extends CommitWitness {
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
    super();
    this.#db = db;
    this.#start = start;
  }

  async transactions(): Promise<readonly CommittedTransaction[]> {
    const rows = await this.#rowsByToken();
    const transactions = (await this.#committed()).map(({ place, tokens }) => ({
      events: tokens
        .flatMap((token) => rows.get(token) ?? [])
        .map((row, index) => ({ ...row, position: `${place}#${String(index + 1)}` })),
    }));
    // Outboxes of other tests are in the same log.
    return transactions.filter(({ events }) => events.length > 0);
  }

  /** Those that committed and wrote to the outbox, with the tokens of their statements in order. */
  async #committed(): Promise<{ place: string; tokens: string[] }[]> {
    const committed: { place: string; tokens: string[] }[] = [];
    let open = { place: '', tokens: [] as string[] };
    for await (const { type, at, info } of this.#log()) {
      if (/^gtid/i.test(type)) {
        const gtid = /GTID_NEXT= '([^']+)'|GTID ([\d-]+)/.exec(info);
        open = { place: `${at}/${gtid?.[1] ?? gtid?.[2] ?? ''}`, tokens: [] };
      } else if (/^(rows_query|annotate_rows)$/i.test(type)) {
        const token = /token ([0-9a-f-]{36})/.exec(info)?.[1];
        if (token !== undefined) open.tokens.push(token);
      } else if (type === 'Xid' || (type === 'Query' && info === 'COMMIT')) {
        if (open.tokens.length > 0) committed.push(open);
      }
    }
    return committed;
  }

  async *#log(): AsyncGenerator<{ type: string; at: string; info: string }> {
    const [files] = await this.#db.pool.query<RowDataPacket[]>('SHOW BINARY LOGS');
    const names = files.map((row) => String(row['Log_name']));
    for (const name of names.slice(names.indexOf(this.#start.file))) {
      const from = name === this.#start.file ? ` FROM ${String(this.#start.offset)}` : '';
      const [events] = await this.#db.pool.query<RowDataPacket[]>(`SHOW BINLOG EVENTS IN ?${from}`, [name]);
      for (const event of events) {
        const at = `${name}:${String(event['Pos'])}`;
        yield { type: String(event['Event_type']), at, info: String(event['Info']) };
      }
    }
  }

  async #rowsByToken(): Promise<Map<string, { id: string; key: string }[]>> {
    const [rows] = await this.#db.pool.query<RowDataPacket[]>(
      'SELECT CAST(id AS CHAR) AS id, `key`, token FROM outbox ORDER BY place',
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

/** A position of the source, `<server>;<file>:<offset>:<…>;<ordinal>;<gtid>;…`, in the words of the witness. */
export function mysqlPlaceOf(position: string): string {
  const [, at = '', ordinal = '', gtid = ''] = position.split(';');
  const [file = '', offset = ''] = at.split(':');
  return `${file}:${offset}/${gtid}#${ordinal}`;
}

/** Orders two of these, by file, offset and ordinal: negative, zero or positive. */
export function compareMysqlPlaces(a: string, b: string): number {
  const parts = (place: string): [string, number, number] => {
    const [, file = '', offset = '', ordinal = ''] = /^(.*):(\d+)\/.*#(\d+)$/.exec(place) ?? [];
    return [file, Number(offset), Number(ordinal)];
  };
  const [[fileA, offsetA, ordinalA], [fileB, offsetB, ordinalB]] = [parts(a), parts(b)];
  if (fileA !== fileB) return fileA < fileB ? -1 : 1;
  return offsetA - offsetB || ordinalA - ordinalB;
}
