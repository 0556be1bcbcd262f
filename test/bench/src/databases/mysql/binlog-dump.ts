import type { ReadingRecord } from '../../readers/reading-record.js';
import { ordinalOf } from '../payload.js';

/** What each file begins with. */
const MAGIC = Buffer.from([0xfe, 0x62, 0x69, 0x6e]);

// The head of every event, and where in it its type and its length are. The rest is not needed.
const HEAD = 4 + 1 + 4 + 4 + 4 + 2;
const TYPE = 4;
const LENGTH = 9;
const CHECKSUM = 4;

// Types of events.
const TABLE_MAP = 19;
const WRITE_ROWS_V1 = 23; // MariaDB
const WRITE_ROWS_V2 = 30; // MySQL
const OTHER_ROWS = new Set([24, 25, 31, 32, 39, 40]); // updates, deletes, and MySQL's compressed transactions
const COMPRESSED_ROWS = new Set([166, 167, 168, 169, 170, 171]); // MariaDB

/** The table's number and flags, before what each event of rows has. */
const POST_HEAD = 6 + 2;

// Types of columns.
const BIGINT = 8;
const VARCHAR = 15;
const BLOB = 252; // and every text
const COLUMNS = [BIGINT, BIGINT, VARCHAR, BLOB];

/** How many bytes give the length of a text, by its column. */
interface Outbox {
  readonly type: number;
  readonly payload: number;
}

/** Looks through a file of a binlog that has inserts into the outbox and nothing else; with checksums, as is the default. */
export function readBinlog(file: Buffer, record: ReadingRecord): void {
  if (!file.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error('the dump is not a binlog');
  let outbox: Outbox | null = null;
  for (let at = MAGIC.length; at < file.length; at += file.readUInt32LE(at + LENGTH)) {
    const type = file[at + TYPE] ?? 0;
    const end = at + file.readUInt32LE(at + LENGTH);
    if (end > file.length || end < at + HEAD)
      throw new Error(`the dump ends within byte ${String(at)}’s event`);
    const body = file.subarray(at + HEAD, end - CHECKSUM);
    if (type === TABLE_MAP) {
      outbox = outboxOf(body);
    } else if (type === WRITE_ROWS_V1 || type === WRITE_ROWS_V2) {
      if (outbox === null) throw new Error('the dump has rows without a table');
      readRows(body, type === WRITE_ROWS_V2, outbox, record);
    } else if (OTHER_ROWS.has(type) || COMPRESSED_ROWS.has(type)) {
      throw new Error(`the dump has an event of type ${String(type)}, which is no insert`);
    }
  }
}

function outboxOf(body: Buffer): Outbox {
  const database = POST_HEAD;
  const table = afterName(body, database);
  const count = afterName(body, table);
  const types = body.subarray(count + 1, count + 1 + COLUMNS.length);
  const metadata = count + 1 + COLUMNS.length + 1; // its length fits a byte, as the count of columns does
  if (body[count] !== COLUMNS.length || !types.equals(Buffer.from(COLUMNS)))
    throw new Error(`the dump has a table with the column types ${[...types].join(', ')}`);
  // A number has no metadata, a VARCHAR two bytes and a text one.
  return { type: body.readUInt16LE(metadata) > 255 ? 2 : 1, payload: body[metadata + 2] ?? 0 };
}

/** A name has its length in front, and a zero behind. */
function afterName(body: Buffer, start: number): number {
  return start + 1 + (body[start] ?? 0) + 1;
}

function readRows(body: Buffer, isV2: boolean, outbox: Outbox, record: ReadingRecord): void {
  let at = POST_HEAD;
  if (isV2) at += body.readUInt16LE(at); // extra data: its length counts itself
  at += 1 + 1; // the count of columns, and a bit for each that is there
  while (at < body.length) {
    at += 1 + 8; // a bit for each column that is NULL, the id
    const key = Number(body.readBigInt64LE(at));
    at += 8;
    at += outbox.type + body.readUIntLE(at, outbox.type);
    const length = body.readUIntLE(at, outbox.payload);
    at += outbox.payload;
    record.see(key, ordinalOf(body.toString('latin1', at, at + length)));
    at += length;
  }
}
