/** How a row carries the ordinal within its key: at the start of its payload, which every database prints the same way. */

export type PayloadType = 'text' | 'json';

/** About what an order's event weighs. */
export const DEFAULT_PAYLOAD_BYTES = 200;

/** The payload's text is PAYLOAD_START, the ordinal, and the end. JSON types put shorter keys first, as it does. */
export const PAYLOAD_START = '{"n": ';

/** With it a payload has about so many bytes: an ordinal's digits are not counted out. */
export function payloadEnd(bytes: number = DEFAULT_PAYLOAD_BYTES): string {
  const rest = PAYLOAD_START.length + '123, "note": ""}'.length;
  return `, "note": "${'x'.repeat(Math.max(0, bytes - rest))}"}`;
}

/** Reads the ordinal from the start of the payload's text: cheaper than the work that is measured. */
export function ordinalOf(payloadText: string): number {
  return Number.parseInt(payloadText.slice(PAYLOAD_START.length), 10);
}
