/** Microseconds between 1970-01-01 and 2000-01-01 UTC, where Postgres counts from. */
const POSTGRES_EPOCH_MICROS = 946_684_800_000_000n;

/** Postgres' microseconds as ISO 8601 UTC with six digits: `2026-11-30T06:20:45.123456Z`. */
export function formatMicros(micros: bigint): string {
  const unixMicros = micros + POSTGRES_EPOCH_MICROS;
  const millis = Number(unixMicros / 1_000n);
  const rest = String(Number(unixMicros % 1_000n)).padStart(3, '0');
  return `${new Date(millis).toISOString().slice(0, -1)}${rest}Z`;
}

/** A clock reading (Unix milliseconds) as Postgres' microseconds. */
export function toPostgresMicros(unixMillis: number): bigint {
  return BigInt(Math.round(unixMillis * 1_000)) - POSTGRES_EPOCH_MICROS;
}

const ISO_8601 = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3}(?<micros>\d{0,3})\d*)?)?(Z|[+-]\d\d:\d\d))?$/;

/** A time of ISO 8601, UTC or with its offset, as Postgres' microseconds; null for any other text. */
export function parseMicros(text: string): bigint | null {
  const match = ISO_8601.exec(text);
  const millis = Date.parse(text);
  if (match === null || Number.isNaN(millis)) return null;
  return toPostgresMicros(millis) + BigInt((match.groups?.['micros'] ?? '').padEnd(3, '0'));
}
