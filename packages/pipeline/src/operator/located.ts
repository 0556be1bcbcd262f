import type { LogReaderRequest, LogState, Position, SourceIdentity } from '@strandline/core';
import { pipelineError } from '../errors.js';
import type { LogPlace } from '../replay/options.js';
import { checkPlace, findPlace } from '../replay/places.js';
import { normalTime } from '../replay/time.js';
import type { DeskParts } from './parts.js';

/** A position, and the log that it belongs to. */
export interface LocatedPosition {
  readonly position: Position;
  readonly identity: SourceIdentity;
}

/** How the log stands now. */
export function inspect({ source, ...parts }: DeskParts): Promise<LogState> {
  return source.inspect(opening(parts));
}

/**
 * The position of a place, from which the log can be read. Throws `PIPELINE_POSITION`, `REPLAY_BOOKMARK`, and what the
 * source says of a position of another log.
 */
export async function locate(
  place: LogPlace | 'earliest' | 'now',
  state: LogState,
  parts: DeskParts,
): Promise<LocatedPosition> {
  if (place === 'now') return { position: state.head, identity: state.identity };
  if (place === 'earliest') return { position: earliest(state), identity: state.identity };
  const found = await findPlace(place, parts);
  if ('time' in found) return atTime(found.time, parts);
  const { position, identity = state.identity } = found;
  await mustBeReachable({ position, identity }, state, parts);
  return { position, identity };
}

/** Throws `PIPELINE_POSITION`, and what the source says of a position of another log. */
export async function mustBeReachable(
  place: LocatedPosition,
  state: LogState,
  parts: DeskParts,
): Promise<void> {
  await checkPlace(place, state, parts, opening(parts));
  const { position } = place;
  if (state.compare(position, state.head) > 0)
    throw unreachable(
      position,
      `lies ahead of the log, which ends at ${state.head}`,
      'What commits up to there would be skipped. Correct the position.',
    );
  if (state.compare(position, earliest(state)) < 0)
    throw unreachable(
      position,
      `was in the log, which begins after ${earliest(state)} by now`,
      'What lies between is gone. Choose a later position.',
    );
}

/** Before the first transaction that committed at the time or later. */
async function atTime(text: string, parts: DeskParts): Promise<LocatedPosition> {
  const time = normalTime(text);
  if (time === null)
    throw pipelineError(
      'PIPELINE_POSITION',
      `${JSON.stringify(text)} is no time with its zone.`,
      'Write it like 2026-01-31T12:00:00Z.',
    );
  const reader = await parts.source.reader({ ...opening(parts), from: { time } });
  await reader.close();
  return { position: reader.start, identity: reader.identity };
}

function earliest({ earliest: position, head }: LogState): Position {
  if (position !== null) return position;
  throw unreachable(
    head,
    'is the end of the log, and nothing of the log can be read',
    'strandline doctor tells what is wrong with the server.',
  );
}

function opening({ name, signal, log }: Omit<DeskParts, 'source'>): Omit<LogReaderRequest, 'from'> {
  return { pipeline: name, signal, log };
}

function unreachable(position: Position, problem: string, remedy: string): Error {
  return pipelineError('PIPELINE_POSITION', `The position ${position} ${problem}.`, remedy, { position });
}
