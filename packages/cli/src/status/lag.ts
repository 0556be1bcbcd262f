import type { LogState, Offset } from '@strandline/core';
import type { InstanceDetails } from '@strandline/pipeline';

/** How far the pipeline is behind its log. What can't be told is null. */
export interface Lag {
  /** Events that are not settled. Only an owner that has read its log to the end knows them all. */
  readonly events: number | null;
  /** There may be more of them in the part of the log that the owner has not read. */
  readonly moreEvents: boolean;
  /** Bytes of log behind the saved offset, written by whomever: an estimate of what is left to read. */
  readonly bytes: number | null;
  /** Seconds since the oldest event that is not settled has committed; 0 when there is none. */
  readonly seconds: number | null;
}

export function lagOf(offset: Offset | null, log: LogState | null, owner: InstanceDetails | null): Lag {
  const bytes = offset === null || log === null ? null : bytesBehind(log, offset.watermark);
  const read = owner !== null && owner.source?.lagBytes === 0 && owner.paused === null;
  return {
    events: owner?.unsettled ?? (bytes === 0 ? 0 : null),
    moreEvents: !read && bytes !== 0,
    bytes,
    seconds: secondsBehind(owner, read || bytes === 0),
  };
}

function secondsBehind(owner: InstanceDetails | null, read: boolean): number | null {
  if (owner !== null && owner.oldest !== null) return owner.oldest.age;
  return read ? 0 : null;
}

/** A position of another log, or one that was written by hand, is not measured. */
function bytesBehind(log: LogState, position: string): number | null {
  try {
    return log.bytesBehind(position);
  } catch {
    return null;
  }
}
