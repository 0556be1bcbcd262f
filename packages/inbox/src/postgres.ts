import type { Pool, PoolClient } from 'pg';
import { errorField, type Database, type Pruning, type Session } from './database.js';
import type { InboxFacts } from './diagnose.js';
import { commitError, InboxEndedError, rolledBackError } from './errors.js';
import type { ValidOptions } from './options.js';
import { lookPostgres, postgresDdl, postgresTable, preparePostgres } from './postgres-table.js';

const UNDEFINED_TABLE = '42P01';
const IN_FAILED_TRANSACTION = '25P02';
/** RELEASE without a transaction, and in another one than the savepoint's. */
const NO_TRANSACTION = new Set(['25P01', '3B001']);
/**
 * Errors of COMMIT after which it may have taken place: the connection or the server ended, or the server says that it
 * does not know. Others, such as 40001 and a deferred constraint, are its refusal.
 */
const UNDECIDED = /^(08|57P|58|XX|40003)/;

export class PostgresDatabase implements Database<PoolClient> {
  readonly #pool: Pool;
  readonly #options: ValidOptions;

  constructor(pool: Pool, options: ValidOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  prepare(): Promise<void> {
    return preparePostgres(this.#pool, this.#options);
  }

  async open(): Promise<Session<PoolClient>> {
    return new PostgresSession(await this.#pool.connect(), postgresTable(this.#options.table));
  }

  async look(): Promise<InboxFacts> {
    const { table, create } = this.#options;
    const look = await lookPostgres(this.#pool, table);
    return { table: postgresTable(table), ddl: postgresDdl(table), create, look };
  }

  isMissingTable(error: unknown): boolean {
    return errorField(error, 'code') === UNDEFINED_TABLE;
  }
}

class PostgresSession implements Session<PoolClient> {
  readonly #table: string;

  constructor(
    readonly tx: PoolClient,
    table: string,
  ) {
    this.#table = table;
    // The pool does not listen while it has lent a client out, and an error that nobody hears ends the process.
    tx.on('error', ignore);
  }

  async record(inbox: string, digests: readonly Buffer[]): Promise<readonly boolean[]> {
    // The savepoint tells at the end whether the transaction is still this one.
    await this.tx.query('BEGIN; SAVEPOINT strandline_inbox');
    const { rows } = await this.tx.query<{ event: string }>(
      `INSERT INTO ${this.#table} (inbox, event, recorded_at)
        SELECT $1::text, event, statement_timestamp() FROM unnest($2::bytea[]) WITH ORDINALITY AS given (event, place)
        ORDER BY place
        ON CONFLICT (inbox, event) DO NOTHING RETURNING encode(event, 'hex') AS event`,
      [inbox, digests],
    );
    // Of two with one digest the first one is recorded.
    const recorded = new Set(rows.map(({ event }) => event));
    return digests.map((digest) => recorded.delete(digest.toString('hex')));
  }

  async commit(): Promise<void> {
    try {
      // One message: when the first fails, the second is not run.
      await this.tx.query('RELEASE SAVEPOINT strandline_inbox; COMMIT');
    } catch (error) {
      const code = errorField(error, 'code');
      if (errorField(error, 'severity') === undefined || typeof code !== 'string') throw commitError(error);
      if (code === IN_FAILED_TRANSACTION) throw rolledBackError(error);
      if (NO_TRANSACTION.has(code)) throw new InboxEndedError(error);
      throw UNDECIDED.test(code) ? commitError(error) : error;
    }
  }

  async rollback(): Promise<void> {
    await this.tx.query('ROLLBACK');
  }

  restore(): Promise<void> {
    return Promise.resolve();
  }

  async prune({ inbox, settledBefore, keep, limit }: Pruning): Promise<number> {
    const { rowCount } = await this.tx.query(
      `DELETE FROM ${this.#table} USING (
        SELECT event FROM ${this.#table}
          WHERE inbox = $1
            AND recorded_at < least($2::timestamptz, statement_timestamp()) - $3::float8 * interval '1 millisecond'
          ORDER BY recorded_at LIMIT $4 FOR UPDATE SKIP LOCKED
        ) AS old
        WHERE inbox = $1 AND ${this.#table}.event = old.event`,
      [inbox, settledBefore, keep, limit],
    );
    return rowCount ?? 0;
  }

  release(): void {
    this.#leave();
    this.tx.release();
  }

  destroy(): void {
    this.#leave();
    this.tx.release(true);
  }

  /** From the next turn of the event loop on: what is broken may say so until then. */
  #leave(): void {
    const { tx } = this;
    setImmediate(() => tx.off('error', ignore));
  }
}

function ignore(): void {
  // The next query says it too.
}
