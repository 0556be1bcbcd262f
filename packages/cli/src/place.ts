import { normalTime, type LogPlace } from '@strandline/pipeline';
import { InvalidArgumentError } from 'commander';

/** What the help says of places. */
export const PLACES = `
Places in the log are told apart by how they look:
  earliest, now           the oldest that the log has, and its end
  2026-01-31T12:00:00Z    a time, with its zone: before the first transaction that committed then or later
  16/B374D848:3           a position, as logs and events have it: it has a slash, a colon or a semicolon in it
  anything else           the name of a bookmark
`;

export function parsePlace(text: string): LogPlace | 'earliest' | 'now' {
  if (text === 'earliest' || text === 'now') return text;
  if (/^\d{4}-\d{2}-\d{2}T/.test(text)) return { time: parseTime(text) };
  if (/[/:;]/.test(text)) return { position: text };
  if (/^[\w.-]{1,100}$/.test(text)) return { bookmark: text };
  throw new InvalidArgumentError(
    'Use a bookmark, a position, a time such as 2026-01-31T12:00:00Z, earliest or now.',
  );
}

function parseTime(text: string): string {
  const time = normalTime(text);
  if (time === null)
    throw new InvalidArgumentError('Use a time with its zone, such as 2026-01-31T12:00:00Z.');
  return time;
}
