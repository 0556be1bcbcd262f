import type { Charsets } from './charsets.js';
import { quoteText } from './connection.js';
import { jsonText } from './json-binary.js';
import { inet4Text, inet6Text, uuidText } from './mariadb-texts.js';
import { doubleText, floatText } from './number-text.js';

/** A column as its declaration says. */
export interface ColumnType {
  readonly name: string;
  /** Lower case, as INFORMATION_SCHEMA prints it: `bigint unsigned`, `binary(16)`, `enum('a','b')`, `uuid`. */
  readonly type: string;
  /** Of a column of characters; null for others. */
  readonly charset: string | null;
}

/**
 * How the values of a column become text, from the log and from a query.
 *
 * The canonical text of a value is the text that the server itself prints in UTF-8, with the time zone +00:00
 * and without padding, so that a key is one string in the snapshot and in the stream. Where the server's print
 * loses something, or is no text:
 *
 * - BINARY, VARBINARY, BLOB, BIT, VECTOR and spatial types: `0x` and the bytes in lower-case hex, BINARY(n) with
 *   all its n bytes, spatial values as the server stores them (SRID, then WKB);
 * - FLOAT: the shortest digits that read back as the same float (the server prints six), laid out as DOUBLE;
 * - FLOAT(m,d), DOUBLE(m,d) and ZEROFILL: without the zeros that the declaration adds;
 * - ENUM: the label, and the empty string for the value of an invalid one; SET: labels with commas between;
 * - JSON of MySQL: as the server prints it (members in its order, `1.0` for a double, decimals with their scale);
 *   JSON of MariaDB: the text that was stored;
 * - characters of another charset than the Unicode ones: by the server's own tables. Bytes that it has no
 *   character for can't be read, and are never printed as `?`.
 */
export interface Codec {
  /** A value as the library hands it out after `tune`; throws for what can't be read. */
  readonly fromLog: (value: unknown) => string;
  /** The column in a select list. */
  readonly select: (name: string) => string;
  /** The bytes of what `select` gives. */
  readonly fromQuery: (bytes: Buffer) => string;
  /** A value as a literal that compares as the column does; null where the type is no order to read in. */
  readonly literal: ((text: string) => string) | null;
  /** The bytes of the column are wanted, not what the library makes of them. */
  readonly bytes: boolean;
}

/** The first word of a declared type. */
export function baseType(type: string): string {
  return /^[a-z0-9]+/.exec(type)?.[0] ?? '';
}

const INTEGERS = ['tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'decimal'];
const CHARACTERS = ['char', 'varchar'];
const TEXTS = ['tinytext', 'text', 'mediumtext', 'longtext'];
const BINARIES = ['binary', 'varbinary'];
const TEMPORALS = ['date', 'datetime'];
const BYTES = [
  'tinyblob',
  'blob',
  'mediumblob',
  'longblob',
  'bit',
  'vector',
  'geometry',
  'point',
  'linestring',
  'polygon',
  'multipoint',
  'multilinestring',
  'multipolygon',
  'geometrycollection',
  'geomcollection',
];

/** The payload of these types is bytes by default. */
export function isBinary(type: string): boolean {
  const base = baseType(type);
  return BINARIES.includes(base) || BYTES.includes(base);
}

/** Types whose natural order comes close to the order of insertion. */
export function isSerial(type: string): boolean {
  const base = baseType(type);
  return INTEGERS.includes(base) && base !== 'decimal';
}

/** Throws for a type that is not known. */
export function codecOf(column: ColumnType, charsets: Charsets): Codec {
  const base = baseType(column.type);
  const known = CODECS.get(base);
  if (known !== undefined) return known;
  const characters = CHARACTERS.includes(base) || TEXTS.includes(base);
  if (!characters) throw new Error(`its type ${column.type} is not known`);
  const decode = charsets.decoder(column.charset);
  const literal = CHARACTERS.includes(base) ? quoteText : null;
  if (decode === null) return { ...TEXT, literal };
  return {
    fromLog: (value) => decode(bytesOf(value)),
    select: (name) => `cast(${name} as binary)`,
    fromQuery: decode,
    literal,
    bytes: true,
  };
}

const plain = (name: string): string => name;

const TEXT: Codec = {
  fromLog: stringOf,
  select: plain,
  fromQuery: (bytes) => bytes.toString('utf8'),
  literal: quoteText,
  bytes: false,
};

const UNORDERED: Codec = { ...TEXT, literal: null };

const INTEGER: Codec = {
  fromLog: (value) => (typeof value === 'number' ? String(value) : unpadded(numberOrString(value))),
  select: plain,
  fromQuery: (bytes) => unpadded(bytes.toString('latin1')),
  literal: plain,
  bytes: false,
};

const BINARY: Codec = {
  fromLog: (value) => hexText(bytesOf(value)),
  select: plain,
  fromQuery: hexText,
  literal: (text) => `x'${text.slice(2)}'`,
  bytes: true,
};

const FLOAT: Codec = {
  fromLog: (value) => floatText(numberOf(value)),
  // As a double, since a float is printed with 6 digits. Only from 8.0.17 on can MySQL cast to one.
  select: (name) => `${name} * 1e0`,
  fromQuery: (bytes) => floatText(Number(bytes.toString('latin1'))),
  literal: null,
  bytes: false,
};

const DOUBLE: Codec = {
  ...FLOAT,
  fromLog: (value) => doubleText(numberOf(value)),
  select: plain,
  fromQuery: (bytes) => doubleText(Number(bytes.toString('latin1'))),
};

/** The library reads a year of zero as 1900, where the type has no year before 1901. */
const YEAR: Codec = {
  ...INTEGER,
  fromLog: (value) => (numberOf(value) === 1900 ? '0000' : String(numberOf(value))),
  fromQuery: (bytes) => bytes.toString('latin1').padStart(4, '0'),
  literal: (text) => String(Number(text)),
};

const TIME: Codec = { ...TEXT, fromLog: (value) => carried(stringOf(value)) };
const TIMESTAMP: Codec = { ...TEXT, fromLog: (value) => unsignedTimestamp(stringOf(value)) };
const UUID: Codec = { ...TEXT, fromLog: (value) => uuidText(bytesOf(value)), bytes: true };
const JSON_TEXT: Codec = {
  ...UNORDERED,
  fromLog: (value) => (Buffer.isBuffer(value) ? jsonText(value) : stringOf(value)),
};

const CODECS: ReadonlyMap<string, Codec> = new Map<string, Codec>([
  ...INTEGERS.map((name): [string, Codec] => [name, INTEGER]),
  ...BINARIES.map((name): [string, Codec] => [name, BINARY]),
  ...BYTES.map((name): [string, Codec] => [name, { ...BINARY, literal: null }]),
  ...TEMPORALS.map((name): [string, Codec] => [name, TEXT]),
  ['float', FLOAT],
  ['double', DOUBLE],
  ['year', YEAR],
  ['time', TIME],
  ['timestamp', TIMESTAMP],
  ['enum', UNORDERED],
  ['set', UNORDERED],
  ['json', JSON_TEXT],
  ['uuid', UUID],
  ['inet4', { ...TEXT, fromLog: (value) => inet4Text(bytesOf(value)), bytes: true }],
  ['inet6', { ...TEXT, fromLog: (value) => inet6Text(bytesOf(value)), bytes: true }],
]);

function hexText(bytes: Buffer): string {
  return `0x${bytes.toString('hex')}`;
}

/** ZEROFILL pads with zeros in queries. */
function unpadded(text: string): string {
  return text.replace(/^(-?)0+(?=\d)/, '$1');
}

/**
 * The library takes a negative time apart before it adds the one that two's complement lacks: -00:01:00 comes
 * out as -00:00:64. Put together again, in units of 64, the fields carry.
 */
function carried(text: string): string {
  const match = /^-(\d+):(\d+):64(\.\d+)?$/.exec(text);
  if (match === null) return text;
  const [, hours = '0', minutes = '0', fraction = ''] = match;
  const units = Number(hours) * 4096 + Number(minutes) * 64 + 64;
  const two = (value: number): string => String(value).padStart(2, '0');
  return `-${two(units >> 12)}:${two((units >> 6) & 63)}:${two(units & 63)}${fraction}`;
}

const TWO_TO_32_MS = 2 ** 32 * 1000;

/** Newer MariaDB counts seconds up to 2106; the library reads the later half as years before 1970. */
function unsignedTimestamp(text: string): string {
  if (text >= '1970' || text.startsWith('0000')) return text;
  const [seconds = '', fraction] = text.split('.');
  const later = new Date(Date.parse(`${seconds.replace(' ', 'T')}Z`) + TWO_TO_32_MS);
  const whole = later.toISOString().slice(0, 19).replace('T', ' ');
  return fraction === undefined ? whole : `${whole}.${fraction}`;
}

function bytesOf(value: unknown): Buffer {
  if (Buffer.isBuffer(value)) return value;
  throw wrongValue(value);
}

function stringOf(value: unknown): string {
  if (typeof value === 'string') return value;
  throw wrongValue(value);
}

function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  throw wrongValue(value);
}

function numberOrString(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'string') return String(value);
  throw wrongValue(value);
}

/** Says the type of it, and nothing of the value. */
function wrongValue(value: unknown): Error {
  return new Error(`it came as ${value === undefined ? 'nothing that its type has' : typeof value}`);
}
