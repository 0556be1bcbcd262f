/** The slice of zongji's events that is used here; its own classes carry far more. */
interface EventBase {
  /** When the event was made, Unix milliseconds; the log has whole seconds. */
  readonly timestamp: number;
  /** Where the next event starts, in this file; 0 where the server does not say. */
  readonly nextPosition: number;
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
  readonly numberOfColumns: number;
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
  loadQuery: 18,
  incident: 26,
  transactionPayload: 40,
} as const;

/** Length of the common header: timestamp 4, type 1, server id 4, length 4, next position 4, flags 2. */
export const HEADER_LENGTH = 19;
