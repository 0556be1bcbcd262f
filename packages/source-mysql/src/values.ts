/** How a column's values are made text: what its declared type says, lower case, as INFORMATION_SCHEMA prints it. */
export interface ColumnType {
  readonly name: string;
  /** `bigint unsigned`, `binary(16)`, `enum('a','b')`, `uuid`. */
  readonly type: string;
}

/** Writes one decoded value of a column as its canonical text; null for NULL. */
export type TextOf = (value: unknown) => string | null;

/**
 * The canonical text of a column's values: the text that the server itself prints, so that a key is one string
 * in the snapshot and in the stream, whatever the library makes of it on the way.
 *
 * - binary strings and bit fields are `0x` and hex digits in lower case: their bytes are no text;
 * - a year of zero is 0000, which the library turns into 1900 (the type begins at 1901);
 * - an invalid enum value is the empty string, as the server prints it.
 */
export function textOf({ type }: ColumnType): TextOf {
  if (type.startsWith('year')) return yearText;
  if (type.startsWith('enum'))
    return (value) => (value === null ? null : value === undefined ? '' : asText(value));
  if (/^(float|double)/.test(type)) return (value) => (value === null ? null : numberText(Number(value)));
  if (type === 'uuid') return uuidText;
  return asText;
}

function yearText(value: unknown): string | null {
  const text = asText(value);
  return text === '1900' ? '0000' : (text?.padStart(4, '0') ?? null);
}

function asText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (Buffer.isBuffer(value)) return `0x${value.toString('hex')}`;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value);
  return JSON.stringify(value);
}

function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** The log has the 16 bytes of a uuid column, and its metadata calls it binary(16). */
function uuidText(value: unknown): string | null {
  if (!Buffer.isBuffer(value)) return asText(value);
  const hex = value.toString('hex').padEnd(32, '0');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
