/** A place in Postgres' write-ahead log, in bytes from its beginning. */
export type Lsn = bigint;

const TEXT = /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/;

/** Reads `16/B374D848`. The two halves are not zero-padded, so LSN text must never be compared as text. */
export function parseLsn(text: string): Lsn | null {
  const match = TEXT.exec(text);
  if (match === null) return null;
  const [, high = '', low = ''] = match;
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/** Prints it as the server does. */
export function formatLsn(lsn: Lsn): string {
  const high = Number(lsn >> 32n);
  const low = Number(lsn & 0xffffffffn);
  return `${high.toString(16).toUpperCase()}/${low.toString(16).toUpperCase()}`;
}
