const TIME = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,6})\d*)?(Z|[+-]\d{2}:\d{2})$/;

/**
 * A time as events have theirs: ISO 8601, UTC, six digits of microseconds, so that texts compare as times. Null for
 * what is no time, or one without its zone.
 */
export function normalTime(text: string): string | null {
  const [, seconds, fraction = '', zone] = TIME.exec(text) ?? [];
  if (seconds === undefined || zone === undefined) return null;
  const time = new Date(seconds + zone);
  if (Number.isNaN(time.getTime())) return null;
  return `${time.toISOString().slice(0, 19)}.${fraction.padEnd(6, '0')}Z`;
}
