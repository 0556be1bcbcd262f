import type { Offset, Position, SourceIdentity } from '@strandline/core';
import { z } from 'zod';
import { pipelineError, type PipelineError } from '../errors.js';
import type { ReplayRequest } from './options.js';

/** What of the log a replay is about. It is kept with its offset, so that one that was interrupted goes on with it. */
export interface ReplayRange {
  /** Which events, and what handles them, as it was asked for: `{"from":"time:…","to":"now",…}`. */
  readonly asked: string;
  /** Reading begins after this position … */
  readonly after: Position;
  /** … and ends with this one, or … */
  readonly until: Position;
  /** … before the first transaction that committed at this time or later; null when no time was asked for. */
  readonly before: string | null;
}

/** The one further field of a replay's identity in the offset store. */
const FIELD = 'replay';

const schema = z.strictObject({
  asked: z.string(),
  after: z.string(),
  until: z.string(),
  before: z.string().nullable(),
});

/** The log's identity, and what is replayed of it. */
export function withRange(identity: SourceIdentity, range: ReplayRange): SourceIdentity {
  return { ...identity, [FIELD]: JSON.stringify(range) };
}

/** The log's identity alone. */
export function withoutRange(identity: SourceIdentity): SourceIdentity {
  return Object.fromEntries(Object.entries(identity).filter(([name]) => name !== FIELD));
}

/** The range of a saved replay. Throws `REPLAY_NAME` for what is none, and `REPLAY_UNFINISHED` for another range. */
export function rangeOf(offset: Offset, { name }: ReplayRequest, asked: string): ReplayRange {
  const range = savedRange(offset, name);
  if (range.asked === asked) return range;
  throw pipelineError(
    'REPLAY_UNFINISHED',
    `The replay ${name} was interrupted at ${offset.watermark}, and it was about something else: ${range.asked}. This one would be ${asked}.`,
    'Go on with the same one, give this one another name (as, --as), or give that one up with restart (--restart).',
  );
}

/** Throws `REPLAY_NAME` when the offset is not a replay's. */
export function savedRange({ identity }: Offset, name: string): ReplayRange {
  const saved = identity[FIELD];
  if (saved === undefined) throw notAReplay(name);
  const result = schema.safeParse(jsonOf(saved));
  if (!result.success) throw notAReplay(name);
  return result.data;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function notAReplay(name: string): PipelineError {
  return pipelineError(
    'REPLAY_NAME',
    `There is an offset by the name ${name}, and it is not a replay's: a pipeline's, probably.`,
    'Give the replay another name (as, --as).',
  );
}
