import { postgresError } from './errors.js';

const LAST_ASCII = 0x7f;
/** Bytes of a text that is made here, if they are ASCII: a call into the engine takes three times as long (measured). */
const SHORT = 8;

/** What `toString('utf8', …)` calls after it has looked at its arguments. Buffers have it; their types don't. */
interface Utf8Sliced {
  utf8Slice(start: number, end: number): string;
}

/**
 * Reads the fields of one protocol message after the other. The buffer is pg-protocol's own and is written over once
 * the callback has returned, so whatever outlives the callback must be copied out; every method here copies.
 *
 * Formats: https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html
 */
export class ByteReader {
  #buffer: Buffer;
  #at: number;

  constructor(buffer: Buffer, at = 0) {
    this.#buffer = buffer;
    this.#at = at;
  }

  /** Goes on with the message that begins there and ends with its buffer. */
  reset(buffer: Buffer, at: number): void {
    this.#buffer = buffer;
    this.#at = at;
  }

  uint8(): number {
    const at = this.#advance(1);
    return this.#buffer[at] ?? 0;
  }

  uint16(): number {
    return this.#buffer.readUInt16BE(this.#advance(2));
  }

  /** Oids and xids are unsigned: a signed read turns those above 2^31 negative. */
  uint32(): number {
    return this.#buffer.readUInt32BE(this.#advance(4));
  }

  int64(): bigint {
    return this.#buffer.readBigInt64BE(this.#advance(8));
  }

  uint64(): bigint {
    return this.#buffer.readBigUInt64BE(this.#advance(8));
  }

  /** A zero-terminated string. */
  string(): string {
    const end = this.#buffer.indexOf(0, this.#at);
    if (end < 0) throw truncated();
    const text = this.#buffer.toString('utf8', this.#at, end);
    this.#at = end + 1;
    return text;
  }

  /** Text of a known length. `toString` keeps a leading byte order mark, which TextDecoder would drop. */
  text(length: number): string {
    const at = this.#advance(length);
    const short = length <= SHORT ? shortText(this.#buffer, at, length) : null;
    return short ?? (this.#buffer as Buffer & Utf8Sliced).utf8Slice(at, at + length);
  }

  /** The same; equal bytes are one string, and are compared with the last one's instead of being decoded. */
  repeatedText(length: number, last: string | null): string {
    if (last?.length !== length) return this.text(length);
    const at = this.#advance(length);
    const buffer = this.#buffer;
    for (let i = 0; i < length; i += 1) {
      const byte = buffer[at + i] ?? 0;
      if (byte !== last.charCodeAt(i) || byte > LAST_ASCII) {
        this.#at = at;
        return this.text(length);
      }
    }
    return last;
  }

  skip(length: number): void {
    this.#advance(length);
  }

  /** Throws unless all was read: a length that lies by a little leaves something over. */
  end(): void {
    if (this.#at !== this.#buffer.length) throw protocolError('has more than its last field');
  }

  #advance(length: number): number {
    const at = this.#at;
    if (at + length > this.#buffer.length) throw truncated();
    this.#at = at + length;
    return at;
  }
}

/** The text of up to eight bytes; null if one of them is not ASCII. Ids and keys are such texts, as a rule. */
function shortText(bytes: Buffer, at: number, length: number): string | null {
  let all = 0;
  for (let i = at; i < at + length; i += 1) all |= bytes[i] ?? 0;
  if (all > LAST_ASCII) return null;
  const byte = (i: number): number => bytes[at + i] ?? 0;
  return String.fromCharCode(byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6), byte(7)).slice(
    0,
    length,
  );
}

function truncated(): Error {
  return protocolError('ended before its last field');
}

function protocolError(problem: string): Error {
  return postgresError(
    'PG_PROTOCOL',
    `A replication message ${problem}.`,
    'The stream stopped before it. Check for a proxy between Strandline and the server.',
  );
}
