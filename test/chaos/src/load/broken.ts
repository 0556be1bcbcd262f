/** Payloads of the events that fail for good, until somebody has mended what they need. */
export const BROKEN: readonly string[] = ['broken-1', 'broken-2', 'broken-3', 'broken-4'];
