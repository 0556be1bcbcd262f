import type {
  Bookmark,
  LogReaderRequest,
  LogStart,
  LogState,
  Position,
  SourceIdentity,
} from '@strandline/core';
import type { PipelineConfig } from '../config.js';
import { pipelineError, type PipelineError } from '../errors.js';
import type { LogPlace } from './options.js';

/** Names that an error tells. */
const NAMED = 10;

/** A place as it is read from: bookmarks are positions. */
export type FoundPlace =
  { readonly position: Position; readonly identity: SourceIdentity | undefined } | { readonly time: string };

/** Looks bookmarks up. Throws `REPLAY_BOOKMARK`, and what the offset store throws. */
export async function findPlace(
  place: LogPlace,
  { name, offsets }: Pick<PipelineConfig, 'name' | 'offsets'>,
): Promise<FoundPlace> {
  if ('time' in place) return { time: place.time };
  if ('position' in place) return { position: place.position, identity: place.identity };
  const bookmark = await offsets.bookmarks.get(name, place.bookmark);
  if (bookmark !== null) return bookmark;
  throw noBookmark(name, place.bookmark, await offsets.bookmarks.list(name));
}

/** Where a reader starts for a place. A position of which nothing else is known belongs to the log as it is now. */
export function startOf(place: FoundPlace | 'earliest' | 'now', { identity }: LogState): LogStart {
  if (place === 'earliest' || place === 'now') return place;
  if ('time' in place) return place;
  return { after: place.position, identity: place.identity ?? identity };
}

/** As text, the same for the same place. */
export function placeText(place: FoundPlace | 'earliest' | 'now'): string {
  if (typeof place === 'string') return place;
  return 'time' in place ? `time:${place.time}` : `position:${place.position}`;
}

/** Throws what the source says of a position that belongs to another log. */
export async function checkPlace(
  place: FoundPlace | 'now',
  state: LogState,
  { source }: Pick<PipelineConfig, 'source'>,
  request: Omit<LogReaderRequest, 'from'>,
): Promise<void> {
  if (place === 'now' || 'time' in place) return;
  const { position, identity } = place;
  if (identity === undefined || isSame(identity, state.identity)) return;
  const reader = await source.reader({ ...request, from: { after: position, identity } });
  await reader.close();
}

function isSame(a: SourceIdentity, b: SourceIdentity): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => a[name] === b[name]);
}

function noBookmark(pipeline: string, name: string, known: readonly Bookmark[]): PipelineError {
  const names = known.slice(0, NAMED).map((bookmark) => bookmark.name);
  const more = known.length > NAMED ? `, and ${String(known.length - NAMED)} more` : '';
  return pipelineError(
    'REPLAY_BOOKMARK',
    `The pipeline ${pipeline} has no bookmark by the name ${JSON.stringify(name)}.`,
    names.length === 0 ? 'It has none at all.' : `It has ${names.join(', ')}${more}.`,
  );
}
