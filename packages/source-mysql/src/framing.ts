import {
  BeginEvent,
  EVENT_TYPES,
  FramingGtidEvent,
  HEADER,
  HEADER_LENGTH,
  XidEvent,
  type BinlogEvent,
} from './binlog-events.js';

/** MariaDB's GTID event: the group has no end but its one statement (FL_STANDALONE, sql/log_event.h). */
const STANDALONE = 1;
/** Bytes of a query event before its variables; the lengths of schema and variables stand among them. */
const QUERY_HEAD = { length: 13, schemaLength: 8, variablesLength: 11 } as const;
const BEGIN = Buffer.from('BEGIN');
const SOURCE_LENGTH = 16;
/** Bytes of an event that are read here: what is shorter is damaged, and the library says so. */
const SHORTEST = { mysqlGtid: 1 + SOURCE_LENGTH + 8, mariadbGtid: 8 + 4 + 1, xid: 8 } as const;
/** Above this the numbers of a GTID are not exact, and the library reads them. */
const EXACT_HIGH = 0x20_0000;

/**
 * Reads the events that frame a transaction of rows: its GTID, BEGIN, and the commit. They are a few fixed bytes; by
 * the library they and the table map cost as much as five rows (11 of the 13 µs of a transaction of one row on
 * MySQL, Node 20). Everything else is left to the library, and so is what is not plain.
 */
export class Framing {
  readonly #source = Buffer.alloc(SOURCE_LENGTH);
  /** The text of the UUID that was read last, with a colon. */
  #sourceText = '';

  /** The event whose header starts at `at` and whose body ends at `end`; null when it is for the library. */
  read(buffer: Buffer, at: number, end: number): BinlogEvent | null {
    const body = at + HEADER_LENGTH;
    switch (buffer[at + HEADER.type]) {
      case EVENT_TYPES.xid:
        if (end - body < SHORTEST.xid) return null;
        return new XidEvent(timestampOf(buffer, at), nextPositionOf(buffer, at), end - body);
      case EVENT_TYPES.gtid:
        return this.#mysqlGtid(buffer, at, end - body);
      case EVENT_TYPES.mariadbGtid:
        return mariadbGtid(buffer, at, end - body);
      case EVENT_TYPES.query:
        return isBegin(buffer, body, end)
          ? new BeginEvent(timestampOf(buffer, at), nextPositionOf(buffer, at), end - body)
          : null;
      default:
        return null;
    }
  }

  /** Flags 1, UUID 16, number 8, … (libs/mysql/binlog/event/control_events.h). */
  #mysqlGtid(buffer: Buffer, at: number, size: number): BinlogEvent | null {
    if (size < SHORTEST.mysqlGtid) return null;
    const source = at + HEADER_LENGTH + 1;
    const number = exactNumber(buffer, source + SOURCE_LENGTH);
    if (number === null) return null;
    if (
      this.#sourceText === '' ||
      buffer.compare(this.#source, 0, SOURCE_LENGTH, source, source + SOURCE_LENGTH) !== 0
    ) {
      buffer.copy(this.#source, 0, source, source + SOURCE_LENGTH);
      this.#sourceText = `${uuidText(this.#source)}:`;
    }
    const gtid = this.#sourceText + number;
    return new FramingGtidEvent(timestampOf(buffer, at), nextPositionOf(buffer, at), size, gtid, false);
  }
}

/** Number 8, domain 4, flags 1, …; the server's number is in the header (MariaDB, sql/log_event.h). */
function mariadbGtid(buffer: Buffer, at: number, size: number): BinlogEvent | null {
  if (size < SHORTEST.mariadbGtid) return null;
  const body = at + HEADER_LENGTH;
  const number = exactNumber(buffer, body);
  if (number === null) return null;
  const domain = buffer.readUInt32LE(body + 8);
  const isStandalone = (buffer.readUInt8(body + 12) & STANDALONE) !== 0;
  const gtid = `${String(domain)}-${String(buffer.readUInt32LE(at + HEADER.serverId))}-${number}`;
  // It is the BEGIN as well.
  return new FramingGtidEvent(timestampOf(buffer, at), nextPositionOf(buffer, at), size, gtid, !isStandalone);
}

function isBegin(buffer: Buffer, body: number, end: number): boolean {
  if (end - body < QUERY_HEAD.length) return false;
  const variables = buffer.readUInt16LE(body + QUERY_HEAD.variablesLength);
  const schema = buffer.readUInt8(body + QUERY_HEAD.schemaLength);
  const text = body + QUERY_HEAD.length + variables + schema + 1;
  return end - text === BEGIN.length && buffer.compare(BEGIN, 0, BEGIN.length, text, end) === 0;
}

function exactNumber(buffer: Buffer, at: number): string | null {
  const high = buffer.readUInt32LE(at + 4);
  return high < EXACT_HIGH ? String(high * 0x1_0000_0000 + buffer.readUInt32LE(at)) : null;
}

function timestampOf(buffer: Buffer, at: number): number {
  return buffer.readUInt32LE(at) * 1_000;
}

function nextPositionOf(buffer: Buffer, at: number): number {
  return buffer.readUInt32LE(at + HEADER.nextPosition);
}

function uuidText(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
