/** One fault, or one thing that is to be told apart from a fault. */
export interface Finding {
  readonly key: string;
  /** The events that it is about; of a swap first the earlier one. */
  readonly ids: readonly string[];
  /** In one sentence. */
  readonly says: string;
  /** The least of commit order and of calls that shows it, a line each. */
  readonly excerpt: string;
}

/** What a run has to say about the promises. */
export interface Judgement {
  /** Committed, and no call has succeeded. */
  readonly missed: readonly Finding[];
  /** Started before an earlier one of its key had settled. */
  readonly swaps: readonly Finding[];
  /** Two calls of one key at once; or a life that calls although another one has taken over. */
  readonly overlaps: readonly Finding[];
  /** Calls that nothing committed stands behind: another key, another position, a wrong attempt, an end without a start. */
  readonly strays: readonly Finding[];
  /** Started again with nothing to explain it: it was settled in this very life, or in one that stopped in order. */
  readonly repeats: readonly Finding[];
  /** Started again by another life after one that was cut short, each event once: no fault. */
  readonly duplicates: readonly Finding[];
  /** Overlaps with a call that a paused life had in flight when another one took over: no fault, nobody can prevent it. */
  readonly tolerated: readonly Finding[];
}

/** Nothing lost, nothing out of order, nothing again without a reason: for `toMatchObject`. */
export const faultless = { missed: [], swaps: [], overlaps: [], strays: [], repeats: [] } as const;

/** And nothing twice at all: for `toEqual`. */
export const onceEach = { ...faultless, duplicates: [], tolerated: [] } as const;

/** The ids of some findings, in their order. */
export function idsOf(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ ids }) => ids);
}

/** What is known of a run besides what committed and what was called. Times are those of the calls. */
export interface JudgeOptions {
  /** When lives ended, however that was: what they had in flight then ended without a word. */
  readonly ended?: ReadonlyMap<number, number>;
  /** Those that stopped in order and had saved what they had settled: nothing of it may come again. */
  readonly stopped?: ReadonlySet<number>;
  /** Moments at which a life was paused (or cut off), so that another could take over without its knowing. */
  readonly paused?: ReadonlyMap<number, readonly number[]>;
  /**
   * Ids that fail for good: their keys are parked, and what comes next of such a key is the same event once more, from
   * attempt 1 on, when somebody has released it.
   */
  readonly broken?: ReadonlySet<string>;
  /** Ids that an operator left out. They may have been tried, and need not succeed. */
  readonly leftOut?: ReadonlySet<string>;
  /** What of an event's position is known of a committed row. */
  readonly placeOf?: (position: string) => string;
}
