/** How a row carries the ordinal within its key: at the start of its payload, which every database prints the same way. */

export type PayloadType = 'text' | 'json';

/** The payload's text is PAYLOAD_START, the ordinal, PAYLOAD_END. JSON types put shorter keys first, as it does. */
export const PAYLOAD_START = '{"n": ';
/** With about what an order's event weighs. */
export const PAYLOAD_END = `, "note": "${'x'.repeat(100)}"}`;

/** Reads the ordinal from the start of the payload's text: cheaper than the work that is measured. */
export function ordinalOf(payloadText: string): number {
  return Number.parseInt(payloadText.slice(PAYLOAD_START.length), 10);
}
