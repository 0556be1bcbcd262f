import type { PruneReport } from '@strandline/pipeline';
import { amount, printable } from '../text.js';

/** What a round has done, for people: a line with what was done, and one with ! for each that stands in the way. */
export function pruneText(pipeline: string, { outcome, figures, survey }: PruneReport): string {
  const { outbox, oldest, heldBack, pauses, candidates } = figures;
  const lines = [`${pipeline}: ${outbox ?? 'its outbox'}: ${doneText(figures, survey)}`];
  if (oldest !== null) lines.push(`the oldest row is from ${oldest}`);
  for (const [kind, times] of Object.entries(pauses))
    if (times > 0) lines.push(`paused ${amount(times, 'time')}: ${PAUSES[kind] ?? kind}`);
  if (outcome === 'elsewhere')
    lines.push('! another pruner of this outbox is at work: the running pipeline, or this command elsewhere');
  if (outcome === 'heldBack' && candidates > 0)
    lines.push(`! ${amount(candidates, 'row')} that are old are held back`);
  for (const { who, at, why } of heldBack)
    lines.push(`! ${printable(who)}${at === null ? '' : ` stands at ${printable(at)}`}: ${printable(why)}`);
  return `${lines.join('\n  ')}\n`;
}

const PAUSES: Readonly<Record<string, string>> = {
  replicas: 'replicas were behind',
  busy: 'the server was busy',
  locked: 'rows, or the table, were in use',
};

function doneText(
  { rowsDeleted, partitionsDropped }: PruneReport['figures'],
  survey: PruneReport['survey'],
): string {
  if (survey === null)
    return `${amount(rowsDeleted, 'row')} deleted, ${amount(partitionsDropped, 'partition')} dropped`;
  const partitions =
    survey.partitions.length === 0 ? '' : `, with ${survey.partitions.join(', ')} as a whole`;
  return `${amount(survey.rows, 'row')} would be deleted${partitions}`;
}
