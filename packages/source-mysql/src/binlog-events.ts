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
  readonly preparedXa: boolean;
  readonly completedXa: boolean;
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

/** Type codes in the common header (sql/log_event.h), where the library has no class of its own. */
export const EVENT_TYPES = {
  formatDescription: 15,
  loadQuery: 18,
  incident: 26,
  partialUpdateRows: 39,
  transactionPayload: 40,
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
export const HEADER = { type: 4, length: 9, nextPosition: 13, flags: 17 } as const;
