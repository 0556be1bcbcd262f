import type { PostgresServer } from '@strandline/servers';
import pg from 'pg';
import type { Reader } from '../../readers/reader.js';
import { rowsPerKeyOf, type Backlog, type BacklogOptions, type RowsPerKey } from '../bench-database.js';
import type { PayloadType } from '../payload.js';
import { stagedRows } from '../staged-rows.js';
import { createOutbox, payloadSql } from './outbox.js';
import { pgRecvlogicalVersion, readWithPgRecvlogical } from './pg-recvlogical.js';
import { copySlot, dropSlot } from './slots.js';

const ROWS_A_STATEMENT = 50_000;

/** What the log has after a slot was made: in a database of its own, whose slots see nothing else. */
export class PostgresBacklog implements Backlog {
  readonly options: BacklogOptions;
  readonly url: string;
  readonly #server: PostgresServer;
  readonly #sql: pg.Client;
  #slots = 0;
  #rowsPerKey: RowsPerKey;

  static async create(server: PostgresServer, options: BacklogOptions): Promise<PostgresBacklog> {
    const url = await server.createDatabase(options.name);
    const sql = new pg.Client({ connectionString: url });
    await sql.connect();
    const backlog = new PostgresBacklog(server, options, url, sql);
    try {
      await backlog.#fill();
    } catch (error) {
      await backlog[Symbol.asyncDispose]();
      throw error;
    }
    return backlog;
  }

  private constructor(server: PostgresServer, options: BacklogOptions, url: string, sql: pg.Client) {
    this.#server = server;
    this.options = options;
    this.url = url;
    this.#sql = sql;
    this.#rowsPerKey = new Uint32Array(options.keys);
  }

  get rowsPerKey(): RowsPerKey {
    return this.#rowsPerKey;
  }

  /** The reader's name is that of a slot, which is dropped afterwards. */
  async withReader<T>(work: (slot: string) => Promise<T>): Promise<T> {
    this.#slots += 1;
    // Slots are the server's and not the database's, and offsets belong to a slot: names are not used twice.
    const slot = `${this.options.name}_${String(this.#slots)}`;
    await copySlot(this.#sql, this.#template, slot);
    try {
      return await work(slot);
    } finally {
      await dropSlot(this.#sql, slot);
    }
  }

  async count(): Promise<RowsPerKey> {
    const { rows } = await this.#sql.query<{ key: number; rows: number }>(
      'select key::int as key, count(*)::int as rows from outbox group by key',
    );
    this.#rowsPerKey = rowsPerKeyOf(rows, this.options.keys);
    return this.#rowsPerKey;
  }

  async ownReaders(): Promise<readonly Reader[]> {
    const version = await pgRecvlogicalVersion();
    if (version === null) return [];
    const { rows } = await this.#sql.query<{ lsn: string }>('select pg_current_wal_lsn()::text as lsn');
    const end = rows[0]?.lsn ?? '';
    return [{ name: `pg_recvlogical ${version}`, read: (settings) => readWithPgRecvlogical(settings, end) }];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sql.end();
    await this.#server.dropDatabase(this.options.name);
  }

  get #template(): string {
    return `${this.options.name}_template`;
  }

  async #fill(): Promise<void> {
    const { rows, perTransaction, payload, payloadBytes } = this.options;
    await this.#sql.query(createOutbox(payload));
    await this.#stage();
    await this.#sql.query(fill(payload, payloadBytes));
    await this.#sql.query("select pg_create_logical_replication_slot($1, 'pgoutput')", [this.#template]);
    await this.#sql.query(`call fill(${String(rows)}, ${String(perTransaction)})`);
    await this.count();
  }

  /** Which row gets which key, and its ordinal there. Not in the log. */
  async #stage(): Promise<void> {
    await this.#sql.query('create unlogged table staged (i int, key bigint, ordinal int)');
    for (const { numbers, keys, ordinals } of stagedRows(this.options.rows, this.options, ROWS_A_STATEMENT)) {
      await this.#sql.query('insert into staged select * from unnest($1::int[], $2::bigint[], $3::int[])', [
        numbers,
        keys,
        ordinals,
      ]);
    }
    await this.#sql.query('create unique index on staged (i)');
    await this.#sql.query('analyze staged');
  }
}

const fill = (payload: PayloadType, payloadBytes: number | undefined): string => `
  create procedure fill(total int, per int) language plpgsql as $$
  begin
    for lowest in 1..total by per loop
      insert into outbox (key, type, payload)
        select key, 'order.moved', ${payloadSql('ordinal', payload, payloadBytes)}
        from staged where i between lowest and lowest + per - 1 order by i;
      commit;
    end loop;
  end $$`;
