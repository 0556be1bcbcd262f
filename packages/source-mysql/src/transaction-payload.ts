import { decompress } from 'fzstd';
import { HEADER_LENGTH } from './binlog-events.js';
import { mysqlError } from './errors.js';

/** Field types of a TRANSACTION_PAYLOAD_EVENT (libbinlogevents, Payload_event_buffer_istream). */
const FIELD_END = 0;
const FIELD_PAYLOAD = 1;
const FIELD_COMPRESSION = 2;

const COMPRESSION_ZSTD = 0;
const COMPRESSION_NONE = 255;

/** A transaction that expands beyond this is refused: it would be held in memory whole. */
const LARGEST_PAYLOAD = 1024 * 1024 * 1024;

/**
 * The events inside a compressed transaction, each with its own header and without a checksum.
 * @param body what follows the common header of the payload event, checksum left out
 */
export function expandPayload(body: Buffer): Buffer[] {
  const { compressed, compression } = readFields(body);
  const events = compression === COMPRESSION_NONE ? compressed : inflate(compressed, compression);
  const result: Buffer[] = [];
  for (let at = 0; at < events.length;) {
    if (at + HEADER_LENGTH > events.length) throw damaged('ends inside an event header');
    const length = events.readUInt32LE(at + 9);
    if (length < HEADER_LENGTH || at + length > events.length)
      throw damaged('has an event of an impossible length');
    result.push(events.subarray(at, at + length));
    at += length;
  }
  return result;
}

function readFields(body: Buffer): { compressed: Buffer; compression: number } {
  let at = 0;
  let compression = COMPRESSION_ZSTD;
  const number = (): number => {
    const first = body[at] ?? 0;
    at += 1;
    if (first < 251) return first;
    const width = first === 252 ? 2 : first === 253 ? 3 : 8;
    const value = width === 8 ? Number(body.readBigUInt64LE(at)) : body.readUIntLE(at, width);
    at += width;
    return value;
  };
  while (at < body.length) {
    const type = number();
    if (type === FIELD_END) break;
    const length = number();
    if (type === FIELD_PAYLOAD) return { compressed: body.subarray(at, at + length), compression };
    const end = at + length;
    if (type === FIELD_COMPRESSION) compression = number();
    at = end;
  }
  // The payload is the rest after the end mark.
  return { compressed: body.subarray(at), compression };
}

function inflate(compressed: Buffer, compression: number): Buffer {
  if (compression !== COMPRESSION_ZSTD)
    throw damaged(`is compressed in an unknown way (${String(compression)})`);
  let events: Uint8Array;
  try {
    events = decompress(compressed);
  } catch (cause) {
    throw damaged('can not be decompressed', cause);
  }
  if (events.length > LARGEST_PAYLOAD) throw damaged('is larger than 1 GiB when decompressed');
  return Buffer.from(events.buffer, events.byteOffset, events.byteLength);
}

function damaged(problem: string, cause?: unknown): Error {
  return mysqlError(
    'MYSQL_DECODE',
    `A compressed transaction ${problem}.`,
    'The stream stopped before it. Set binlog_transaction_compression = OFF for the sessions that write the outbox.',
    { cause },
  );
}
