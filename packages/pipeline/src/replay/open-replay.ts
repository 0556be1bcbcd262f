import type { LogReader, LogReaderRequest, LogState, Logger, Offset } from '@strandline/core';
import type { PipelineConfig } from '../config.js';
import { pipelineError, type PipelineError } from '../errors.js';
import type { LogEnd } from './log-part.js';
import type { ReplayRequest } from './options.js';
import { checkPlace, findPlace, placeText, startOf, type FoundPlace } from './places.js';
import { rangeOf, savedRange, withoutRange, withRange, type ReplayRange } from './range.js';

export interface OpenReplayRequest {
  readonly config: PipelineConfig;
  readonly request: ReplayRequest;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** A replay that can begin, or go on. */
export interface OpenedReplay {
  readonly reader: LogReader;
  readonly range: ReplayRange;
  /** As it was claimed; null for one that only counts. */
  readonly offset: Offset | null;
  /** Nothing of it was saved before. */
  readonly isNew: boolean;
}

/** What was asked for, with its bookmarks looked up. */
interface Asked {
  readonly from: FoundPlace | 'earliest';
  readonly to: FoundPlace | 'now';
  /** The same for the same replay. */
  readonly text: string;
}

/**
 * Finds what of the log is meant, opens it, and takes the replay's offset. Throws the `REPLAY_…` errors, and what source
 * and offset store throw. Nothing is claimed before the log is open.
 */
export async function openReplay(replay: OpenReplayRequest): Promise<OpenedReplay> {
  const { config, request, signal, log } = replay;
  const asked = await ask(request, config);
  const saved = request.dryRun ? null : await config.offsets.load(request.name);
  // Looked at before anything is given up: it may be a pipeline's.
  const unfinished = saved === null ? null : savedRange(saved, request.name);
  const goesOn = saved !== null && unfinished !== null && !request.restart;
  const opening: Omit<LogReaderRequest, 'from'> = { pipeline: config.name, signal, log };
  if (goesOn) {
    const range = rangeOf(saved, request, asked.text);
    const from = { after: saved.watermark, identity: withoutRange(saved.identity) };
    const reader = await config.source.reader({ ...opening, from });
    return owned(reader, () => claimed(replay, reader, range, saved));
  }
  const state = await config.source.inspect(opening);
  const end = await endOf(asked, state, config, opening);
  const reader = await config.source.reader({ ...opening, from: startOf(asked.from, state) });
  return owned(reader, async () => {
    if (asked.to !== 'now' && reader.compare(reader.start, end.until) > 0)
      throw wrongRange(`It would begin at ${reader.start}, after its end at ${end.until}.`);
    const range = { ...end, asked: asked.text, after: reader.start };
    if (request.dryRun) return { reader, range, offset: null, isNew: true };
    return claimed(replay, reader, range, saved);
  });
}

async function ask(request: ReplayRequest, config: PipelineConfig): Promise<Asked> {
  const from = request.from === 'earliest' ? request.from : await findPlace(request.from, config);
  const to = request.to === 'now' ? request.to : await findPlace(request.to, config);
  const { filter, handlerName } = request;
  const text = JSON.stringify({
    from: placeText(from),
    to: placeText(to),
    ...filter,
    ...(handlerName === '' ? {} : { handler: handlerName }),
  });
  return { from, to, text };
}

/** Where a new replay ends. Throws `REPLAY_RANGE`. */
async function endOf(
  { from, to }: Asked,
  state: LogState,
  config: PipelineConfig,
  opening: Omit<LogReaderRequest, 'from'>,
): Promise<LogEnd> {
  await checkPlace(to, state, config, opening);
  const until = to === 'now' || 'time' in to ? state.head : to.position;
  if (state.compare(until, state.head) > 0)
    throw wrongRange(`${until} lies ahead of the log, which ends at ${state.head}.`);
  const before = typeof to === 'object' && 'time' in to ? to.time : null;
  if (before !== null && typeof from === 'object' && 'time' in from && from.time > before)
    throw wrongRange(`It would begin at ${from.time}, after its end at ${before}.`);
  return { until, before };
}

/** Closes the reader when what needs it fails. */
async function owned<T>(reader: LogReader, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await reader.close();
    throw error;
  }
}

async function claimed(
  { config, request }: OpenReplayRequest,
  reader: LogReader,
  range: ReplayRange,
  saved: Offset | null,
): Promise<OpenedReplay> {
  const { offsets } = config;
  const { name, restart } = request;
  if (restart && saved !== null && (await offsets.replace(name, saved, null)) === 'changed')
    throw taken(name);
  const goesOn = saved !== null && !restart;
  const seed = { identity: withRange(reader.identity, range), watermark: range.after };
  const offset = await offsets.claim(name, seed);
  const isNew = offset.completed.length === 0 && offset.watermark === range.after;
  if (!goesOn && !isNew) throw taken(name);
  return { reader, range, offset, isNew };
}

function wrongRange(problem: string): PipelineError {
  return pipelineError('REPLAY_RANGE', problem, 'Correct from and to (--from, --to).');
}

function taken(name: string): PipelineError {
  return pipelineError(
    'REPLAY_TAKEN',
    `Another process works on the replay ${name} at this moment.`,
    'Wait for it, or give this one a name of its own (as, --as).',
  );
}
