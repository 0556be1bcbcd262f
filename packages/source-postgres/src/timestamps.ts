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
