/** A place in the log as a number: `16/B374D848` as Postgres prints it. */
export function lsnOf(text: string): bigint {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/** Prints it as Postgres does. */
export function lsnText(lsn: bigint): string {
  const half = (value: bigint): string => value.toString(16).toUpperCase();
  return `${half(lsn >> 32n)}/${half(lsn & 0xffffffffn)}`;
}

/** The commit record's place in an event's position, such as `16/B374D848:3`. */
export function commitLsnOf(position: string): bigint {
  return lsnOf(position.slice(0, position.lastIndexOf(':')));
}

/** Orders two positions in the log: negative, zero or positive. */
export function comparePositions(a: string, b: string): number {
  const [lsnA, lsnB] = [commitLsnOf(a), commitLsnOf(b)];
  if (lsnA !== lsnB) return lsnA < lsnB ? -1 : 1;
  return Number(a.slice(a.lastIndexOf(':') + 1)) - Number(b.slice(b.lastIndexOf(':') + 1));
}
