import type { TestDatabase } from '../postgres-fixture.js';
import { CommittedLog, type CommittedRow } from './committed-log.js';
import { readTestDecoding } from './test-decoding.js';

/** A slot of its own with the plugin test_decoding, read with SQL. It goes with the database. */
export class PostgresCommittedLog extends CommittedLog {
  readonly #db: TestDatabase;
  readonly #slot: string;
  /** End of the last transaction that was read. */
  #readUpTo = '0/0';

  /** Before the first insert; needs the table of `createOutbox`. */
  static async start(db: TestDatabase): Promise<PostgresCommittedLog> {
    const log = new PostgresCommittedLog(db);
    await db.pool.query(`SELECT pg_create_logical_replication_slot($1, 'test_decoding')`, [log.#slot]);
    return log;
  }

  private constructor(db: TestDatabase) {
    super();
    this.#db = db;
    this.#slot = db.slot('committed');
  }

  /**
   * Peeks, and lets go of what has arrived: reading that lets go at once would lose what is on its way when the
   * connection breaks. A server that crashes forgets how far it was, and begins again with what is known here.
   */
  protected async read(): Promise<CommittedRow[]> {
    const { rows: lines } = await this.#db.pool.query<{ data: string; end: string; isNew: boolean }>(
      `SELECT data, lsn::text AS "end", lsn > $2::pg_lsn AS "isNew"
         FROM pg_logical_slot_peek_changes($1, NULL, NULL, 'include-xids', '1', 'skip-empty-xacts', '1')`,
      [this.#slot, this.#readUpTo],
    );
    const rows: CommittedRow[] = [];
    let open: CommittedRow[] | null = null;
    let transaction = '';
    let upTo = this.#readUpTo;
    for (const { data, end, isNew } of lines) {
      const line = readTestDecoding(data, 'public.outbox');
      if (line.what === 'begin') {
        [open, transaction] = [[], line.xid];
      } else if (open === null || (line.what === 'commit' && line.xid !== transaction)) {
        throw new Error(`test_decoding has this outside of its transaction: ${data.slice(0, 120)}`);
      } else if (line.what === 'insert') {
        open.push({ id: valueOf(line.columns, 'id'), key: valueOf(line.columns, 'key'), transaction });
      } else if (line.what === 'commit') {
        // The place of a commit is where its record ends: these only grow, in commit order.
        if (isNew) {
          rows.push(...open);
          upTo = end;
        }
        open = null;
      }
    }
    if (open !== null) throw new Error(`test_decoding ends inside the transaction ${transaction}`);
    this.#readUpTo = upTo;
    if (lines.length > 0) await this.#letGo();
    return rows;
  }

  /** If that fails, the next reading begins where this one did. */
  async #letGo(): Promise<void> {
    const sql = 'SELECT pg_replication_slot_advance($1, $2::pg_lsn)';
    await this.#db.pool.query(sql, [this.#slot, this.#readUpTo]).catch(() => undefined);
  }
}

function valueOf(columns: ReadonlyMap<string, string | null>, name: string): string {
  const value = columns.get(name);
  if (typeof value !== 'string') throw new Error(`a row of the outbox has no ${name}`);
  return value;
}
