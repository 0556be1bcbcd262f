import type { Logger } from '@strandline/core';
import { Assembler } from './assembler.js';
import type { ColumnSchema, TableMapEvent } from './binlog-events.js';
import { BinlogConnection, undecodable } from './binlog-connection.js';
import type { MysqlConfig } from './config.js';
import type { Connector } from './connection.js';
import { mysqlError, MysqlSourceError } from './errors.js';
import type { Pending } from './pending.js';
import type { FilePosition } from './position.js';
import { RowMapper } from './row-mapper.js';
import type { ServerFacts } from './server.js';
import { touches, type TableFacts } from './table.js';
import type { ColumnType } from './values.js';

export interface LogPlace {
  readonly at: FilePosition;
  readonly executed: string;
}

export interface LiveLogOptions {
  readonly connector: Connector;
  readonly config: MysqlConfig;
  readonly facts: ServerFacts;
  readonly table: TableFacts;
  readonly serverId: number;
  readonly start: LogPlace;
  readonly proven: FilePosition | null;
  readonly pending: Pending;
  readonly log: Logger;
}

/** Why a live log ended. */
export interface Failure {
  readonly error: unknown;
}

/** One connected stretch of the binlog. */
export class LiveLog {
  readonly #options: LiveLogOptions;
  readonly #connection: BinlogConnection;
  readonly #assembler: Assembler;
  #failure: Failure | null = null;
  #timer: NodeJS.Timeout | undefined;
  #columns: readonly ColumnType[] | null = null;
  #mapper: RowMapper | null = null;

  constructor(options: LiveLogOptions) {
    this.#options = options;
    const { facts, table, start, proven, pending, config } = options;
    this.#assembler = new Assembler(
      {
        flavour: facts.flavour,
        server: facts.server,
        schema: table.schema,
        table: table.name,
        executed: facts.gtids ? start.executed : null,
        proven,
        mapperFor: (map) => this.#mapperFor(map),
        touchesOutbox: (statement) => touches(table, statement),
      },
      pending,
    );
    this.#connection = new BinlogConnection(options.connector.options, {
      event: (event) => {
        this.#assembler.event(event);
        if (pending.full) this.#connection.pause();
      },
      raw: (type, body) => {
        this.#assembler.raw(type, body);
      },
      ended: (error) => {
        this.#failure ??= { error: error instanceof MysqlSourceError ? error : decodeFault(error) };
        clearInterval(this.#timer);
        pending.wake();
      },
    });
    const { silenceTimeout } = config;
    this.#timer = setInterval(() => {
      if (this.#connection.paused || this.#connection.silence < silenceTimeout) return;
      options.log.warn(
        { silence: Math.round(this.#connection.silence) },
        'no word from the server: giving this connection up',
      );
      this.#connection.fail(new Error('Connection lost: no word from the server'));
    }, silenceTimeout / 4);
  }

  async start(): Promise<void> {
    const { facts, start, table, serverId, config } = this.#options;
    await this.#connection.start({
      serverId,
      executed: facts.gtids ? start.executed : null,
      file: start.at.file,
      offset: start.at.offset,
      schema: table.schema,
      table: table.name,
      heartbeat: Math.min(config.silenceTimeout / 3, 10_000),
    });
  }

  get failure(): Failure | null {
    return this.#failure;
  }

  get paused(): boolean {
    return this.#connection.paused;
  }

  pause(): void {
    this.#connection.pause();
  }

  resume(): void {
    this.#connection.resume();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#connection.close();
  }

  /** The mapper of a table map: by its own column names, or by the catalog's when it carries none. */
  #mapperFor(map: TableMapEvent): RowMapper {
    const { table, config } = this.#options;
    const columns = this.#columnsOf(map);
    if (this.#mapper !== null && columns === this.#columns) return this.#mapper;
    this.#columns = columns;
    this.#mapper = new RowMapper(config.outbox, table.label, columns, config.nullKey);
    return this.#mapper;
  }

  #columnsOf(map: TableMapEvent): readonly ColumnType[] {
    const { table, config } = this.#options;
    if (!map.hasSelfDescribingMetadata()) {
      if (config.metadata === 'full')
        throw this.#layoutError(
          'MYSQL_ROW_METADATA',
          'carries no column names (binlog_row_metadata = MINIMAL)',
        );
      if (map.columnCount === table.columns.length) return table.columns;
      throw this.#layoutError(
        'MYSQL_TABLE_CHANGED',
        `has ${String(map.columnCount)} columns, the table has ${String(table.columns.length)}`,
      );
    }
    const schemas = map.tableMap[map.tableId]?.columnSchemas ?? [];
    const known = this.#columns;
    const same =
      known?.length === schemas.length && known.every((column, index) => sameColumn(column, schemas[index]));
    if (same) return known;
    return schemas.map((schema) => {
      const name = schema.COLUMN_NAME;
      const declared = table.columns.find((column) => column.name === name)?.type;
      return { name, type: typeInLog(schema.COLUMN_TYPE, declared) };
    });
  }

  #layoutError(code: 'MYSQL_ROW_METADATA' | 'MYSQL_TABLE_CHANGED', problem: string): Error {
    return mysqlError(
      code,
      `A table map of ${this.#options.table.label} in the log ${problem}.`,
      "Set binlog_row_metadata = FULL, with which the log describes its rows itself. What was logged before can be read with metadata: 'minimal' if the table has not changed since.",
    );
  }
}

/** MariaDB's uuid and JSON columns call themselves binary(16) and longtext in the log: only the catalog knows. */
function typeInLog(logged: string, declared: string | undefined): string {
  if (declared === 'uuid' && logged === 'binary(16)') return 'uuid';
  return declared === 'json' && logged === 'longtext' ? 'json' : logged;
}

function sameColumn(column: ColumnType, schema: ColumnSchema | undefined): boolean {
  return column.name === schema?.COLUMN_NAME && column.type === typeInLog(schema.COLUMN_TYPE, column.type);
}

/** Errors of the connection stay as they are; what the library could not decode is one of ours. */
function decodeFault(error: unknown): unknown {
  const { code, errno } = error as { code?: unknown; errno?: unknown };
  const ofConnection = code !== undefined || errno !== undefined || /connection/i.test(String(error));
  return ofConnection ? error : undecodable(error);
}
