import type { LiveLogOptions } from './live-log-options.js';
import { Assembler } from './assembler.js';
import type { TableMapEvent } from './binlog-events.js';
import { BinlogConnection } from './binlog-connection.js';
import { withSession } from './connection.js';
import { mysqlError } from './errors.js';
import { parseExecuted } from './gtids.js';
import { layoutProblem } from './layout-check.js';
import { changed, changesLayout } from './layout-scan.js';
import { faultOf } from './log-errors.js';
import { compareFiles } from './position.js';
import type { GroupPlace, Reading } from './reading.js';
import { RowMapper } from './row-mapper.js';
import { loggedColumns, refuseUnknownTypes, sameColumns, tune } from './tuning.js';
import type { ColumnType } from './values.js';

/** Why a live log ended. */
export interface Failure {
  readonly error: unknown;
}

/** One dump, and what puts its transactions together. */
interface Dump {
  readonly connection: BinlogConnection;
  readonly assembler: Assembler;
}

/**
 * One stretch of the binlog, from a place on until it fails. Mostly that is one dump; a transaction of more rows
 * than are held is read again by another one, once it is known to have committed.
 */
export class LiveLog {
  readonly #options: LiveLogOptions;
  #dump: Dump | null = null;
  #paused = false;
  #failure: Failure | null = null;
  #columns: readonly ColumnType[] | null = null;
  #mapper: RowMapper | null = null;
  /** The table map that the mapper reads by. */
  #map: TableMapEvent | null = null;

  constructor(options: LiveLogOptions) {
    this.#options = options;
  }

  /** Resolves once the server sends its log, and rejects with its error when it refuses. A pause before that holds. */
  async start(): Promise<void> {
    const { connector, table } = this.#options;
    if (table.charsets.incomplete) await withSession(connector, (sql) => table.charsets.load(sql));
    await this.#read({ start: this.#options.start, proven: null, behind: null });
  }

  async #read(reading: Reading): Promise<void> {
    const { facts, table, serverId, config, connector } = this.#options;
    const { start } = reading;
    const assembler = this.#assemblerOf(reading, () => connection.read);
    const connection: BinlogConnection = new BinlogConnection(connector.options, {
      event: (event) => {
        assembler.event(event);
        if (this.#options.pending.full) this.pause();
      },
      raw: (type, body) => {
        assembler.raw(type, body);
      },
      ended: (error) => {
        // One that was replaced by another has nothing more to say.
        if (this.#dump?.connection === connection) this.#fail(error);
      },
    });
    this.#dump = { connection, assembler };
    if (this.#paused) connection.pause();
    await connection.start({
      serverId,
      executed: facts.gtids ? start.executed : null,
      file: start.at.file,
      offset: start.at.offset,
      schema: table.schema,
      table: table.name,
      heartbeat: Math.min(config.silenceTimeout / 3, 10_000),
      silenceTimeout: config.silenceTimeout,
    });
  }

  #assemblerOf(reading: Reading, read: () => number): Assembler {
    const { facts, table, pending } = this.#options;
    return new Assembler(
      {
        flavour: facts.flavour,
        server: facts.server,
        schema: table.schema,
        table: table.name,
        gtids: facts.gtids,
        reading,
        read,
        mapperFor: (map) => this.#mapperFor(map),
        touchesOutbox: (statement, database) => table.writers.mayWrite(statement, database),
        statement: (statement, database, place) => {
          table.writers.learn(statement, database);
          this.#refuseChange(statement, database, place);
        },
      },
      {
        events: (events, context) => {
          pending.events(events, context);
        },
        passed: (place) => {
          pending.passed(place, null);
        },
        readAgain: (next) => {
          this.#readAgain(next);
        },
      },
    );
  }

  #readAgain(reading: Reading): void {
    const former = this.#dump;
    this.#dump = null;
    former?.connection.close();
    if (this.#failure !== null) return;
    // Its failure is told by `ended` as well.
    this.#read(reading).catch(() => undefined);
  }

  #fail(error: unknown): void {
    this.#failure ??= { error: faultOf(error) };
    this.#options.pending.wake();
  }

  get failure(): Failure | null {
    return this.#failure;
  }

  get paused(): boolean {
    return this.#paused;
  }

  pause(): void {
    this.#paused = true;
    this.#dump?.connection.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#dump?.connection.resume();
  }

  close(): void {
    this.#failure ??= { error: new Error('Connection closed') };
    this.#dump?.connection.close();
  }

  /** Without names in the log, rows behind a change of the table are read only by who knows its columns then. */
  #refuseChange(statement: string, database: string, { gtid, at }: GroupPlace): void {
    const { config, table, layouts, facts } = this.#options;
    if (config.metadata === 'full' || !changesLayout(table, statement, database)) return;
    const isKnown =
      layouts !== undefined &&
      (gtid === ''
        ? compareFiles(at, layouts.at) < 0
        : parseExecuted(facts.flavour, layouts.executed).contains(gtid));
    if (!isKnown) throw changed(table, `at ${at.file}:${String(at.offset)}`);
  }

  /** The mapper of a table map: by its own column names, or by the catalog's when it carries none. */
  #mapperFor(map: TableMapEvent): RowMapper {
    if (this.#mapper !== null && map === this.#map) return this.#mapper;
    const { table, config } = this.#options;
    const columns = this.#columnsOf(map);
    if (this.#mapper === null || columns !== this.#columns) {
      this.#columns = columns;
      this.#mapper = new RowMapper(config.outbox, table.label, columns, config.nullKey, table.charsets);
    }
    tune(map, columns, this.#mapper.mapped, table.charsets);
    this.#map = map;
    return this.#mapper;
  }

  #columnsOf(map: TableMapEvent): readonly ColumnType[] {
    const { table, config } = this.#options;
    refuseUnknownTypes(map, table.label, table.columns);
    if (!map.hasSelfDescribingMetadata()) {
      if (config.metadata === 'full')
        throw this.#layoutError(
          'MYSQL_ROW_METADATA',
          'carries no column names (binlog_row_metadata = MINIMAL)',
        );
      const problem = layoutProblem(map, table.columns, table.charsets);
      if (problem === null) return table.columns;
      throw this.#layoutError('MYSQL_TABLE_CHANGED', problem);
    }
    const columns = loggedColumns(map, table.columns, table.charsets);
    const known = this.#columns;
    return known !== null && sameColumns(known, columns) ? known : columns;
  }

  #layoutError(code: 'MYSQL_ROW_METADATA' | 'MYSQL_TABLE_CHANGED', problem: string): Error {
    return mysqlError(
      code,
      `A table map of ${this.#options.table.label} in the log ${problem}.`,
      "Set binlog_row_metadata = FULL, with which the log describes its rows itself. What was logged before can be read with metadata: 'minimal' if the table has not changed since.",
    );
  }
}
