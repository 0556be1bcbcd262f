import type { MysqlServer } from '@strandline/servers';
import mysql from 'mysql2/promise';
import { debeziumReader } from '../../peers/debezium/mysql-reader.js';
import type { Reader } from '../../readers/reader.js';
import { rowsPerKeyOf, type Backlog, type BacklogOptions, type RowsPerKey } from '../bench-database.js';
import { emptyBinlog } from './empty-binlog.js';
import { mysqlbinlogReader } from './mysqlbinlog.js';
import { createOutbox, KEY, payloadSql } from './outbox.js';
import { stage } from './stage-rows.js';

/** What the server's log has from its start on: it is emptied before the first row is written. */
export class MysqlBacklog implements Backlog {
  readonly options: BacklogOptions;
  readonly url: string;
  readonly #server: MysqlServer;
  readonly #sql: mysql.Connection;
  #readers = 0;
  #rowsPerKey: RowsPerKey;

  static async create(server: MysqlServer, options: BacklogOptions): Promise<MysqlBacklog> {
    const url = await server.createDatabase(options.name);
    const sql = await mysql.createConnection({ uri: url });
    const backlog = new MysqlBacklog(server, options, url, sql);
    try {
      await backlog.#fill();
    } catch (error) {
      await backlog[Symbol.asyncDispose]();
      throw error;
    }
    return backlog;
  }

  private constructor(server: MysqlServer, options: BacklogOptions, url: string, sql: mysql.Connection) {
    this.#server = server;
    this.options = options;
    this.url = url;
    this.#sql = sql;
    this.#rowsPerKey = new Uint32Array(options.keys);
  }

  get rowsPerKey(): RowsPerKey {
    return this.#rowsPerKey;
  }

  async withReader<T>(work: (reader: string) => Promise<T>): Promise<T> {
    this.#readers += 1;
    return work(`${this.options.name}_${String(this.#readers)}`);
  }

  async count(): Promise<RowsPerKey> {
    const [rows] = await this.#sql.query<({ key: number; rows: number } & mysql.RowDataPacket)[]>(
      `select ${KEY}, count(*) as \`rows\` from outbox group by ${KEY}`,
    );
    this.#rowsPerKey = rowsPerKeyOf(rows, this.options.keys);
    return this.#rowsPerKey;
  }

  async ownReaders(): Promise<readonly Reader[]> {
    const [files] = await this.#sql.query<({ Log_name: string } & mysql.RowDataPacket)[]>('show binary logs');
    const first = files[0]?.Log_name ?? '';
    const readers = [
      await mysqlbinlogReader(this.#server.kind, first),
      this.#server.kind === 'mysql' ? await debeziumReader(this.#sql, first, progress) : null,
    ];
    return readers.filter((reader) => reader !== null);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sql.end();
    await this.#server.dropDatabase(this.options.name);
  }

  async #fill(): Promise<void> {
    const { rows, perTransaction, payload, payloadBytes } = this.options;
    await this.#sql.query(createOutbox(payload));
    await stage(this.#sql, rows, this.options);
    await this.#sql.query(fill(payloadBytes));
    await emptyBinlog(this.#sql, this.#server.kind);
    await this.#sql.query('call fill(?, ?)', [rows, perTransaction]);
    await this.count();
  }
}

/** It takes minutes to make the first time: people would wonder. */
const progress = (text: string): void => void process.stderr.write(`${text}\n`);

const fill = (payloadBytes: number | undefined): string => `
  create procedure fill(total int, per int)
  begin
    declare lowest int default 1;
    while lowest <= total do
      start transaction;
      insert into outbox (${KEY}, type, payload)
        select ${KEY}, 'order.moved', ${payloadSql('ordinal', payloadBytes)}
        from staged where i between lowest and lowest + per - 1 order by i;
      commit;
      set lowest = lowest + per;
    end while;
  end`;
