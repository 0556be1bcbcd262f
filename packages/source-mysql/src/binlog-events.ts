/** The slice of zongji's events that is used here; its own classes carry far more. */
interface EventBase {
  /** When the event was made, Unix milliseconds; the log has whole seconds. */
  readonly timestamp: number;
  /** Where the next event starts, in this file; 0 where the server does not say. */
  readonly nextPosition: number;
  /** Of the body, in bytes. */
  readonly size: number;
  getTypeName(): string;
}

export interface RotateEvent extends EventBase {
  readonly position: number;
  readonly binlogName: string;
}

export interface GtidEvent extends EventBase {
  readonly gtid: string;
}

export interface MariadbGtidEvent extends GtidEvent {
  /** A group of one statement, such as DDL, that ends without a commit. */
  readonly standalone: boolean;
}

export interface QueryEvent extends EventBase {
  readonly schema: string;
  readonly query: string;
}

/** A column as the log (or INFORMATION_SCHEMA) describes it. */
export interface ColumnSchema {
  readonly COLUMN_NAME: string;
  readonly COLUMN_TYPE: string;
}

export interface TableMapEvent extends EventBase {
  readonly tableId: number;
  readonly schemaName: string;
  readonly tableName: string;
  readonly columnCount: number;
  /** The library's table maps by table id, this one included when it describes itself. */
  readonly tableMap: Readonly<
    Record<number, { readonly columnSchemas: readonly ColumnSchema[] } | undefined>
  >;
  hasSelfDescribingMetadata(): boolean;
}

export interface RowsEvent extends EventBase {
  readonly tableId: number;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** One bit per column, least significant first: set when the row image has it. */
  readonly columns_present_bitmap: Buffer;
}

export interface XaPrepareEvent extends EventBase {
  readonly onePhase: boolean;
  readonly xidFormatId: number;
  readonly xidGtrid: Buffer;
  readonly xidBqual: Buffer;
}

export type BinlogEvent = EventBase;

export interface TransactionStart extends GtidEvent {
  /** It begins a transaction, which a commit or a rollback ends. */
  readonly isBegin: boolean;
}

/** What the events that `Framing` reads have in common. They have the library's names where it has such a class. */
abstract class FramingEvent implements EventBase {
  constructor(
    readonly timestamp: number,
    readonly nextPosition: number,
    readonly size: number,
  ) {}

  abstract getTypeName(): string;
}

/** The commit of a transaction. */
export class XidEvent extends FramingEvent {
  getTypeName(): string {
    return 'Xid';
  }
}

/** The statement BEGIN. */
export class BeginEvent extends FramingEvent {
  getTypeName(): string {
    return 'Begin';
  }
}

export class FramingGtidEvent extends FramingEvent implements TransactionStart {
  constructor(
    timestamp: number,
    nextPosition: number,
    size: number,
    readonly gtid: string,
    readonly isBegin: boolean,
  ) {
    super(timestamp, nextPosition, size);
  }

  getTypeName(): string {
    return 'FramingGtid';
  }
}

/** Type codes in the common header (sql/log_event.h): those that are told apart before the library reads them. */
export const EVENT_TYPES = {
  query: 2,
  formatDescription: 15,
  xid: 16,
  loadQuery: 18,
  tableMap: 19,
  incident: 26,
  gtid: 33,
  transactionPayload: 40,
  mariadbGtid: 162,
} as const;

/** The last codes that are known here, and so known to carry no rows unless they are handled. */
const LAST_OF_MYSQL = 42;
const FIRST_OF_MARIADB = 160;
const LAST_OF_MARIADB = 171;

/** LOG_EVENT_IGNORABLE_F: whoever does not know the event can do without it. */
const IGNORABLE = 0x80;

/** An event of a later server, which may carry rows in a way that is not known here. */
export function isUnknown(type: number, flags: number): boolean {
  const known = type <= LAST_OF_MYSQL || (type >= FIRST_OF_MARIADB && type <= LAST_OF_MARIADB);
  return !known && (flags & IGNORABLE) === 0;
}

/** Length of the common header: timestamp 4, type 1, server id 4, length 4, next position 4, flags 2. */
export const HEADER_LENGTH = 19;

/** Places in the common header. */
export const HEADER = { type: 4, serverId: 5, length: 9, nextPosition: 13, flags: 17 } as const;
