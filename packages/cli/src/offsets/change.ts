import type { OffsetMove, Review } from '@strandline/pipeline';
import { confirm } from '../confirm.js';
import { bytesText } from '../units.js';
import { written } from '../streams.js';
import { json, printable } from '../text.js';
import type { AtOffset, ChangeOptions } from './at-offset.js';

/** Has an offset changed, once somebody has said yes to what that does, and tells what was done. */
export async function change(
  { pipeline, streams }: AtOffset,
  { yes, json: asJson }: ChangeOptions,
  work: (review: Review) => Promise<OffsetMove>,
): Promise<void> {
  const move = await work((planned) => confirm(question(pipeline, planned), yes, streams));
  await written(
    streams.stdout,
    asJson === true
      ? json({ pipeline, ...move })
      : `${pipeline}: ${place(move.from)} → ${place(move.to)}\n${effect(move)}\n`,
  );
}

function question(pipeline: string, move: OffsetMove): string {
  return `Move the offset of ${pipeline} from ${place(move.from)} to ${place(move.to)}? ${effect(move)}`;
}

function place(position: string | null): string {
  return position === null ? 'no offset' : printable(position);
}

function effect({ from, to, direction, bytes }: OffsetMove): string {
  const log = bytes === null ? 'the log' : `${bytesText(bytes)} of log`;
  if (direction === 'back') return `What lies between is delivered again, ${log}.`;
  if (direction === 'forward') return `What lies between and was not handled is skipped, ${log}.`;
  if (direction === 'none') return 'Nothing is delivered again or skipped.';
  if (to === null) return 'It begins like a pipeline that never ran.';
  if (from === null) return 'What lies after it is delivered.';
  return "What is delivered again or skipped can't be told: the two can't be compared.";
}
