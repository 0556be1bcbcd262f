import type { Counted, ReplaySummary } from '@strandline/pipeline';
import { amount, printable, table } from '../text.js';
import { rateText, timeText } from './progress.js';

/** What is told of a replay at its end. */
export function summaryText(summary: ReplaySummary): string {
  const { name, state, dryRun, events, keys, skipped, retries, duration, rate } = summary;
  const counts = [
    `${amount(events, 'event')} of ${amount(keys, 'key')} ${dryRun ? 'would be ' : ''}handled`,
    ...(skipped === 0 ? [] : [`${String(skipped)} not, since they don't fit`]),
    ...(dryRun ? [] : [amount(retries, 'retry', 'retries')]),
    `${timeText(duration)}, ${rateText(rate)}`,
  ];
  const places = table([
    ['after', summary.from],
    ['up to', summary.to],
    ...(state === 'completed' ? [] : [['done up to', summary.position]]),
  ]);
  const lists = dryRun ? list('KEY', summary.topKeys) + list('TYPE', summary.topTypes) : '';
  return `${name}: ${state}: ${counts.join('; ')}\n${places}${lists}`;
}

/** The most frequent first. */
function list(head: string, counted: readonly Counted[]): string {
  if (counted.length === 0) return '';
  return table([[head, 'EVENTS'], ...counted.map(({ name, events }) => [printable(name), String(events)])]);
}
