import { CommitWitness, type CommittedEvent, type CommittedTransaction } from './commit-witness.js';
import { lsnText } from './lsn.js';
import type { TestDatabase } from './postgres-fixture.js';

/** Where its commit record starts, and where the next record can start. */
export interface PostgresTransaction extends CommittedTransaction {
  readonly commitLsn: bigint;
  readonly endLsn: bigint;
}

/**
 * A second slot on the same table, read with SQL and parsed here. Positions are `<start of the commit record>:<ordinal
 * in the transaction>`.
 */
export class PostgresCommitWitness extends CommitWitness {
  readonly #db: TestDatabase;
  readonly #transactions: PostgresTransaction[] = [];

  /** Before the first insert; needs the table of `createOutbox`. It goes with the database. */
  static async start(db: TestDatabase): Promise<PostgresCommitWitness> {
    const name = db.publication('witness');
    await db.pool.query(`CREATE PUBLICATION ${name} FOR TABLE outbox WITH (publish = 'insert')`);
    await db.pool.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [db.slot('witness')]);
    return new PostgresCommitWitness(db);
  }

  private constructor(db: TestDatabase) {
    super();
    this.#db = db;
  }

  async transactions(): Promise<readonly PostgresTransaction[]> {
    const { rows } = await this.#db.pool.query<{ data: Buffer }>(
      `SELECT data FROM pg_logical_slot_get_binary_changes($1, NULL, NULL,
         'proto_version', '1', 'publication_names', $2)`,
      [this.#db.slot('witness'), this.#db.publication('witness')],
    );
    let events: CommittedEvent[] = [];
    let commitLsn = 0n;
    // https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html
    for (const { data } of rows) {
      const type = String.fromCharCode(data.readUInt8(0));
      if (type === 'B') {
        commitLsn = data.readBigUInt64BE(1);
        events = [];
      } else if (type === 'I') {
        const [id = '', key = ''] = firstColumns(data.subarray(6), 2);
        events.push({ id, key, position: `${lsnText(commitLsn)}:${String(events.length + 1)}` });
      } else if (type === 'C') {
        this.#transactions.push({ events, commitLsn, endLsn: data.readBigUInt64BE(10) });
      }
    }
    return this.#transactions;
  }
}

/** The text of the first columns of a tuple, none of which is NULL or TOASTed. */
function firstColumns(tuple: Buffer, count: number): string[] {
  const values: string[] = [];
  let at = 2; // after the number of columns
  for (let column = 0; column < count; column += 1) {
    const length = tuple.readUInt32BE(at + 1);
    values.push(tuple.toString('utf8', at + 5, at + 5 + length));
    at += 5 + length;
  }
  return values;
}
