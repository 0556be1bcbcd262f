import type { HeldKey, LetterCounts, Order } from '@strandline/core';
import { sortInstances, type Instances } from './instances.js';
import { lagOf, type Lag } from './lag.js';
import type { Seen } from './look.js';
import { valueOf, type Looked, type Unasked } from './looked.js';
import { problemsOf } from './problems.js';

/** Held keys that are named. */
const NAMED = 10;

/** What `strandline status` tells of a pipeline; `--json` prints it as it is. What is not known is null. */
export interface StatusReport extends Instances {
  readonly pipeline: string;
  /** ISO 8601 UTC, by the clock of who asks. */
  readonly at: string;
  /** Null before the first start, and while the store is away. */
  readonly offset: {
    readonly watermark: string;
    /** Settled runs above the watermark. */
    readonly completedRuns: number;
    readonly epoch: number;
    readonly savedAt: string;
    /** Seconds. */
    readonly age: number;
  } | null;
  readonly lag: Lag;
  readonly log: {
    readonly head: string;
    readonly earliest: string | null;
    readonly retainedBytes: number | null;
  } | null;
  readonly letters: LetterCounts | null;
  readonly bookmarks: number | null;
  /** Who has paused the pipeline; null when nobody has, or it can't be asked. */
  readonly pausedBy: Order | null;
  /** How many keys operators hold, and the first ten. */
  readonly heldKeys: { readonly count: number; readonly first: readonly HeldKey[] } | null;
  readonly unasked: readonly Unasked[];
  /** What somebody should look at, in sentences: empty when all is well. */
  readonly problems: readonly string[];
}

export function reportOf(seen: Seen): StatusReport {
  const { pipeline, at } = seen;
  const offset = valueOf(seen.offset);
  const log = valueOf(seen.log);
  const controls = valueOf(seen.controls);
  const instances = sortInstances(valueOf(seen.instances) ?? [], offset?.epoch ?? null);
  const rest = {
    ...instances,
    pipeline,
    at: new Date(at).toISOString(),
    offset: offset && {
      watermark: offset.watermark,
      completedRuns: offset.completed.length,
      epoch: offset.epoch,
      savedAt: offset.savedAt,
      age: Math.max(0, Math.round((at - Date.parse(offset.savedAt)) / 100) / 10),
    },
    lag: lagOf(offset, log, instances.owner?.details ?? null),
    log: log && { head: log.head, earliest: log.earliest, retainedBytes: log.retainedBytes },
    letters: seen.letters && valueOf(seen.letters),
    bookmarks: valueOf(seen.bookmarks)?.length ?? null,
    pausedBy: controls?.paused ?? null,
    heldKeys: controls && { count: controls.held.length, first: controls.held.slice(0, NAMED) },
    unasked: unaskedOf(seen),
  };
  return { ...rest, problems: problemsOf(rest) };
}

function unaskedOf({ offset, instances, bookmarks, controls, log, letters }: Seen): Unasked[] {
  const places: readonly (readonly [Unasked['place'], readonly (Looked<unknown> | null)[]])[] = [
    ['offsets', [offset, instances, bookmarks, controls]],
    ['source', [log]],
    ['deadLetters', [letters]],
  ];
  return places.flatMap(([place, looks]) => {
    const [away] = looks.flatMap((looked) => (looked !== null && 'away' in looked ? [looked.away] : []));
    return away === undefined ? [] : [{ place, ...away }];
  });
}
