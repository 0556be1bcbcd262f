import { doubleText } from './number-text.js';

/** Type bytes of the binary JSON format (sql-common/json_binary.cc). */
const SMALL_OBJECT = 0;
const LARGE_OBJECT = 1;
const SMALL_ARRAY = 2;
const LARGE_ARRAY = 3;
const LITERAL = 4;
const INT16 = 5;
const UINT16 = 6;
const INT32 = 7;
const UINT32 = 8;
const INT64 = 9;
const UINT64 = 10;
const DOUBLE = 11;
const STRING = 12;
const OPAQUE = 15;

const LITERALS = ['null', 'true', 'false'];

/** Field types of opaque values that are printed as what they are (include/field_types.h). */
const NEWDECIMAL = 246;
const DATE = 10;
const TIME = 11;
const DATETIMES = new Set([7, 12]);

/** Characters of base64 after which the server breaks the line. */
const BASE64_LINE = 76;

/**
 * A JSON value of MySQL's log as the server prints it, character by character. The library's own decoding makes
 * strings of decimals, 1 of 1.0, and takes the order of an object's members from JavaScript.
 */
export function jsonText(bytes: Buffer): string {
  // The server reads a value without bytes as null.
  if (bytes.length === 0) return 'null';
  return valueText(bytes.readUInt8(0), bytes, 1);
}

/** @param at where the value lies, behind its type byte */
function valueText(type: number, bytes: Buffer, at: number): string {
  switch (type) {
    case SMALL_OBJECT:
      return objectText(bytes, at, 2);
    case LARGE_OBJECT:
      return objectText(bytes, at, 4);
    case SMALL_ARRAY:
      return arrayText(bytes, at, 2);
    case LARGE_ARRAY:
      return arrayText(bytes, at, 4);
    case LITERAL:
      return LITERALS[bytes.readUInt8(at)] ?? unknown('literal', bytes.readUInt8(at));
    case INT16:
      return String(bytes.readInt16LE(at));
    case UINT16:
      return String(bytes.readUInt16LE(at));
    case INT32:
      return String(bytes.readInt32LE(at));
    case UINT32:
      return String(bytes.readUInt32LE(at));
    case INT64:
      return String(bytes.readBigInt64LE(at));
    case UINT64:
      return String(bytes.readBigUInt64LE(at));
    case DOUBLE:
      return jsonDouble(bytes.readDoubleLE(at));
    case STRING: {
      const { length, start } = readLength(bytes, at);
      return JSON.stringify(part(bytes, start, length).toString('utf8'));
    }
    case OPAQUE: {
      const { length, start } = readLength(bytes, at + 1);
      return opaqueText(bytes.readUInt8(at), part(bytes, start, length));
    }
    default:
      return unknown('type', type);
  }
}

function jsonDouble(value: number): string {
  const text = doubleText(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** @param width bytes of each count and offset: small values have 2, large ones 4 */
function arrayText(bytes: Buffer, base: number, width: 2 | 4): string {
  const count = bytes.readUIntLE(base, width);
  const first = base + 2 * width;
  const parts = Array.from({ length: count }, (_, index) =>
    entryText(bytes, base, first + index * (1 + width), width),
  );
  return `[${parts.join(', ')}]`;
}

function objectText(bytes: Buffer, base: number, width: 2 | 4): string {
  const count = bytes.readUIntLE(base, width);
  const keys = base + 2 * width;
  const values = keys + count * (width + 2);
  const parts = Array.from({ length: count }, (_, index) => {
    const key = keys + index * (width + 2);
    const start = base + bytes.readUIntLE(key, width);
    const name = part(bytes, start, bytes.readUInt16LE(key + width)).toString('utf8');
    return `${JSON.stringify(name)}: ${entryText(bytes, base, values + index * (1 + width), width)}`;
  });
  return `{${parts.join(', ')}}`;
}

/** A member: its type, and then the value itself when it is short enough, else its offset from `base`. */
function entryText(bytes: Buffer, base: number, at: number, width: 2 | 4): string {
  const type = bytes.readUInt8(at);
  const inline =
    type === LITERAL ||
    type === INT16 ||
    type === UINT16 ||
    (width === 4 && (type === INT32 || type === UINT32));
  return valueText(type, bytes, inline ? at + 1 : base + bytes.readUIntLE(at + 1, width));
}

/** Some of the bytes: all of them, for a text that was cut off is another one. */
function part(bytes: Buffer, start: number, length: number): Buffer {
  if (start + length > bytes.length) throw new Error('its JSON ends inside a value');
  return bytes.subarray(start, start + length);
}

/** Seven bits a byte, least significant first; the high bit says that another byte follows. */
function readLength(bytes: Buffer, at: number): { length: number; start: number } {
  let length = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = bytes.readUInt8(at + index);
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { length, start: at + index + 1 };
  }
  return unknown('length', length);
}

function opaqueText(type: number, bytes: Buffer): string {
  if (type === NEWDECIMAL) return decimalText(bytes);
  if (type === DATE) return JSON.stringify(packedDate(bytes.readBigInt64LE(0)));
  if (type === TIME) return JSON.stringify(packedTime(bytes.readBigInt64LE(0)));
  if (DATETIMES.has(type)) {
    const packed = bytes.readBigInt64LE(0);
    return JSON.stringify(`${packedDate(packed)} ${packedClock(packed)}`);
  }
  const lines = bytes.toString('base64').match(new RegExp(`.{1,${String(BASE64_LINE)}}`, 'g')) ?? [];
  return JSON.stringify(`base64:type${String(type)}:${lines.join('\n')}`);
}

/** Digits are packed nine to four bytes; a negative number has all its bits flipped (strings/decimal.cc). */
const DIGITS = 9;
const WIDTHS = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];

/** A packed decimal, which its precision and scale precede. */
function decimalText(bytes: Buffer): string {
  const precision = bytes.readUInt8(0);
  const scale = bytes.readUInt8(1);
  const packed = Buffer.from(bytes.subarray(2));
  const negative = (packed.readUInt8(0) & 0x80) === 0;
  packed[0] = packed.readUInt8(0) ^ 0x80;
  if (negative) for (let i = 0; i < packed.length; i += 1) packed[i] = packed.readUInt8(i) ^ 0xff;
  const whole = precision - scale;
  let at = 0;
  const group = (digits: number): string => {
    const width = WIDTHS[digits] ?? 0;
    if (width === 0) return '';
    const text = String(packed.readUIntBE(at, width)).padStart(digits, '0');
    at += width;
    return text;
  };
  const groups = (digits: number): string =>
    Array.from({ length: Math.floor(digits / DIGITS) }, () => group(DIGITS)).join('');
  const integer = (group(whole % DIGITS) + groups(whole)).replace(/^0+(?=\d)/, '');
  const fraction = groups(scale) + group(scale % DIGITS);
  return `${negative ? '-' : ''}${integer === '' ? '0' : integer}${scale > 0 ? `.${fraction}` : ''}`;
}

/** Bits of a packed time from the right: 24 of microseconds, 6 of seconds, 6 of minutes, then hours (my_time.cc). */
function field(packed: bigint, from: number, width: number): number {
  return Number((packed >> BigInt(from)) & ((1n << BigInt(width)) - 1n));
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

function packedDate(packed: bigint): string {
  const yearMonth = field(packed, 46, 17);
  const year = String(Math.floor(yearMonth / 13)).padStart(4, '0');
  return `${year}-${two(yearMonth % 13)}-${two(field(packed, 41, 5))}`;
}

function packedClock(packed: bigint): string {
  const fraction = String(field(packed, 0, 24)).padStart(6, '0');
  return `${two(field(packed, 36, 5))}:${two(field(packed, 30, 6))}:${two(field(packed, 24, 6))}.${fraction}`;
}

function packedTime(packed: bigint): string {
  const time = packed < 0n ? -packed : packed;
  const fraction = String(field(time, 0, 24)).padStart(6, '0');
  const clock = `${two(field(time, 36, 10))}:${two(field(time, 30, 6))}:${two(field(time, 24, 6))}`;
  return `${packed < 0n ? '-' : ''}${clock}.${fraction}`;
}

function unknown(what: string, code: number): never {
  throw new Error(`its JSON has an unknown ${what} (${String(code)})`);
}
