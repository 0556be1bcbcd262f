/** As HTTP writes a date; older forms have been forbidden to senders for decades. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Milliseconds to wait by a header `Retry-After`: whole seconds, or a date. Null when it is neither.
 *
 * @param now milliseconds since 1970
 */
export function retryAfterOf(header: string, now: number): number | null {
  const text = header.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1_000;
  if (!HTTP_DATE.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(at - now, 0);
}
