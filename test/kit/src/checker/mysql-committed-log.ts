import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { binlogTool, type BinlogTool } from '@strandline/servers';
import type { RowDataPacket } from 'mysql2/promise';
import type { TestMysqlDatabase } from '../mysql-fixture.js';
import { BinlogEvents, type BinlogTable } from './binlog-events.js';
import { BinlogTransactions } from './binlog-transactions.js';
import { CommittedLog, type CommittedRow } from './committed-log.js';
import { linesOf } from './lines.js';

interface Place {
  readonly file: string;
  readonly offset: number;
}

/** Where each file's first event lies, behind its magic number. */
const firstOffset = 4;

/** The binlog as the server's own tool reads it over the network: mysqlbinlog, or mariadb-binlog. */
export class MysqlCommittedLog extends CommittedLog {
  readonly #db: TestMysqlDatabase;
  readonly #tool: BinlogTool;
  readonly #table: BinlogTable;
  #place: Place;
  #prepared: BinlogTransactions['prepared'] = new Map();

  /** Before the first insert; needs the table of `createMysqlOutbox`. */
  static async start(db: TestMysqlDatabase): Promise<MysqlCommittedLog> {
    const tool = await binlogTool(db.kind);
    const place = (await filesOf(db)).at(-1);
    if (place === undefined) throw new Error('The server writes no binlog.');
    return new MysqlCommittedLog(db, tool, place);
  }

  private constructor(db: TestMysqlDatabase, tool: BinlogTool, place: Place) {
    super();
    this.#db = db;
    this.#tool = tool;
    this.#place = place;
    this.#table = { kind: db.kind, database: db.name, table: 'outbox' };
  }

  protected async read(): Promise<CommittedRow[]> {
    const names = (await filesOf(this.#db)).map(({ file }) => file);
    const from = names.indexOf(this.#place.file);
    if (from < 0) {
      throw new Error(
        `The committed log can't be read on: ${this.#place.file} was purged, and the oldest file is ` +
          `${String(names[0])}. Call rows() before a file is purged.`,
      );
    }
    const rows: CommittedRow[] = [];
    let [place, prepared] = [this.#place, this.#prepared];
    for (const file of names.slice(from)) {
      const offset = file === place.file ? place.offset : firstOffset;
      const transactions = new BinlogTransactions(offset, prepared);
      await this.#print({ file, offset }, transactions);
      rows.push(...transactions.committed);
      [place, prepared] = [{ file, offset: transactions.offset }, transactions.prepared];
    }
    [this.#place, this.#prepared] = [place, prepared];
    return rows;
  }

  /** Lets the tool print a file from a place on to its end, be it for now. */
  async #print({ file, offset }: Place, into: BinlogTransactions): Promise<void> {
    const events = new BinlogEvents(this.#table, (event) => {
      into.take(event);
    });
    const folder = await mkdtemp(path.join(tmpdir(), 'strandline-binlog-'));
    try {
      const options = path.join(folder, 'client.cnf');
      await writeFile(options, this.#connection(), { mode: 0o600 });
      const program = this.#tool([
        `--defaults-file=${options}`,
        '--read-from-remote-server',
        ...['--verbose', '--base64-output=decode-rows', '--print-table-metadata'],
        ...(this.#db.kind === 'mariadb' ? ['--skip-annotate-row-events'] : []),
        `--start-position=${String(offset)}`,
        file,
      ]);
      const child = spawn(program.file, program.args, { stdio: ['ignore', 'pipe', 'pipe'] });
      const exited = once(child, 'close') as Promise<[number | null]>;
      exited.catch(() => undefined); // awaited when all is read
      let complaint = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
      try {
        for await (const line of linesOf(child.stdout)) events.line(line);
      } finally {
        child.kill();
      }
      const [code] = await exited;
      if (code !== 0) throw new Error(`The tool that reads the binlog has failed: ${complaint.trim()}`);
      events.end();
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  /** In a file, since everyone on the machine can read arguments. */
  #connection(): string {
    const { hostname, port, username, password } = new URL(this.#db.url);
    return [
      '[client]',
      `host="${hostname}"`,
      `port=${port === '' ? '3306' : port}`,
      `user="${decodeURIComponent(username)}"`,
      `password="${decodeURIComponent(password)}"`,
      // Its client insists on TLS otherwise, and older servers have none.
      ...(this.#db.kind === 'mariadb' ? ['skip-ssl'] : []),
      '',
    ].join('\n');
  }
}

/** The binlog's files, each with its end. */
async function filesOf({ pool }: TestMysqlDatabase): Promise<Place[]> {
  const [rows] = await pool.query<RowDataPacket[]>('SHOW BINARY LOGS');
  return rows.map((row) => ({ file: String(row['Log_name']), offset: Number(row['File_size']) }));
}
