const ULID_DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** Of a ULID, for 48 bits. */
const TIME_DIGITS = 10;
/** The last time that 48 bits hold. */
const LAST = 2 ** 48 - 1;

/** The least UUID of this millisecond: every UUIDv7 that was made before it is less (RFC 9562, 5.7). */
export function leastUuid(milliseconds: number): string {
  const hex = within48Bits(milliseconds).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** What the ULIDs of this millisecond begin with: every one that was made before it is less, as text. */
export function leastUlid(milliseconds: number): string {
  let rest = within48Bits(milliseconds);
  let text = '';
  for (let digit = 0; digit < TIME_DIGITS; digit += 1) {
    text = (ULID_DIGITS[rest % 32] ?? '') + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function within48Bits(milliseconds: number): number {
  return Math.min(Math.max(Math.floor(milliseconds), 0), LAST);
}
