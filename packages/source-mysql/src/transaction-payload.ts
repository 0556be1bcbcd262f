import { Decompress } from 'fzstd';
import { HEADER_LENGTH } from './binlog-events.js';
import { mysqlError, MysqlSourceError } from './errors.js';

/** Field types of a TRANSACTION_PAYLOAD_EVENT (libs/mysql/binlog/event/codecs/binary.cpp): type, length, value. */
const FIELD_END = 0;
const FIELD_PAYLOAD_SIZE = 1;
const FIELD_COMPRESSION = 2;

const COMPRESSION_ZSTD = 0;
const COMPRESSION_NONE = 255;

/** Compressed bytes that are expanded at once: what they become is held until it was handed on. */
const SLICE = 4_096;

/**
 * The events inside a compressed transaction, each with its own header and without a checksum. They are expanded
 * while they are asked for: a transaction may be a gigabyte.
 * @param body what follows the common header of the payload event, checksum left out
 */
export function* expandPayload(body: Buffer): Generator<Buffer> {
  const { payload, compression } = fieldsOf(body);
  let rest: Buffer = Buffer.alloc(0);
  for (const chunk of inflated(payload, compression)) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (;;) {
      const length = lengthOfEvent(rest, at);
      if (length === null) break;
      yield rest.subarray(at, at + length);
      at += length;
    }
    rest = rest.subarray(at);
  }
  if (rest.length > 0) throw damaged('ends inside an event');
}

/** Of the event that starts there; null while it is not there whole. */
function lengthOfEvent(events: Buffer, at: number): number | null {
  if (at + HEADER_LENGTH > events.length) return null;
  const length = events.readUInt32LE(at + 9);
  if (length < HEADER_LENGTH) throw damaged('has an event of an impossible length');
  return at + length > events.length ? null : length;
}

function fieldsOf(body: Buffer): ReturnType<typeof readFields> {
  try {
    return readFields(body);
  } catch (cause) {
    throw cause instanceof MysqlSourceError ? cause : damaged('has no head that can be read', cause);
  }
}

function readFields(body: Buffer): { payload: Buffer; compression: number } {
  let at = 0;
  let compression = COMPRESSION_ZSTD;
  let size: number | null = null;
  const number = (): number => {
    const first = body.readUInt8(at);
    at += 1;
    if (first < 251) return first;
    const width = first === 252 ? 2 : first === 253 ? 3 : 8;
    const value = width === 8 ? Number(body.readBigUInt64LE(at)) : body.readUIntLE(at, width);
    at += width;
    return value;
  };
  for (;;) {
    const type = number();
    if (type === FIELD_END) break;
    const end = number() + at;
    if (type === FIELD_COMPRESSION) compression = number();
    if (type === FIELD_PAYLOAD_SIZE) size = number();
    at = end;
  }
  const payload = body.subarray(at);
  // One that ends too early may still be whole events, without the last ones.
  if (size !== null && size !== payload.length) throw damaged('is of another length than it says');
  return { payload, compression };
}

function* inflated(payload: Buffer, compression: number): Generator<Buffer> {
  if (compression === COMPRESSION_NONE) {
    yield payload;
    return;
  }
  if (compression !== COMPRESSION_ZSTD)
    throw damaged(`is compressed in an unknown way (${String(compression)})`);
  const chunks: Uint8Array[] = [];
  const stream = new Decompress((chunk) => chunks.push(chunk));
  for (let at = 0; at < payload.length; at += SLICE) {
    try {
      stream.push(payload.subarray(at, at + SLICE), at + SLICE >= payload.length);
    } catch (cause) {
      throw damaged('can not be decompressed', cause);
    }
    for (const chunk of chunks.splice(0)) yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
}

function damaged(problem: string, cause?: unknown): Error {
  return mysqlError(
    'MYSQL_DECODE',
    `A compressed transaction ${problem}.`,
    'The stream stopped before it. Set binlog_transaction_compression = OFF for the sessions that write the outbox.',
    { cause },
  );
}
