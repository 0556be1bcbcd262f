/** Who ordered something, when and why. */
export interface Order {
  /** Whoever it was, as they call themselves. */
  readonly by: string;
  /** ISO 8601 UTC, by the clock of the process in which it was ordered. */
  readonly at: string;
  readonly note: string;
}

/** A key that takes no turn until somebody releases it. */
export interface HeldKey extends Order {
  readonly key: string;
}

/** What operators have ordered of a running pipeline: whoever owns it obeys. */
export interface Controls {
  /** Grows by one with each change; 0 before the first. */
  readonly revision: number;
  /** Who has paused the whole pipeline; null while it runs. */
  readonly paused: Order | null;
  /** Each key once. */
  readonly held: readonly HeldKey[];
}

/** Nothing was ordered yet. */
export const NO_CONTROLS: Controls = Object.freeze({ revision: 0, paused: null, held: Object.freeze([]) });

/** The controls of pipelines. Errors are those of the offset store. */
export interface ControlStore {
  /** `NO_CONTROLS` when there are none. */
  load(pipeline: string): Promise<Controls>;
  /** The controls, unless they are of that revision still: then null. It is asked about once a second. */
  newer(pipeline: string, revision: number): Promise<Controls | null>;
  /**
   * Puts them in place of those that somebody has read, with the next revision: all of them or nothing. Null, and
   * nothing is done, when they are no longer the ones that were read.
   */
  change(pipeline: string, read: Controls, by: Pick<Controls, 'paused' | 'held'>): Promise<Controls | null>;
}
