import { cut, shortError } from '@strandline/core';
import type { PruneFigures } from '../prune/figures.js';
import type { InstanceDetails } from './instance-details.js';
import { NAMED, notableKeys, seconds } from './notable-keys.js';
import { pruningOf } from './pruning-of.js';
import { RateMeter } from './rates.js';
import type { Run } from '../run.js';
import { LONGEST_ID, LONGEST_KEY, LONGEST_POSITION } from './short-text.js';
import { TurnAges } from './turn-ages.js';

const NOTHING: InstanceDetails = {
  ...{ paused: null, watermark: null, settledBefore: null, watermarkAge: null, source: null },
  ...{ offsetsAvailable: true, lettersAvailable: true, suspecting: false },
  ...{ unsaved: 0, unsettled: 0, bytes: 0, strands: 0, running: 0, stuck: 0, backoff: 0, exhausted: 0 },
  ...{
    halted: 0,
    held: 0,
    parked: 0,
    full: 0,
    releasing: 0,
    settled: 0,
    rates: null,
    oldest: null,
    partial: false,
  },
  ...{ turns: [], failing: [], hot: [], parkedKeys: [], fullKeys: [], prune: null, error: null },
};

/**
 * Looks at a run from outside, about once a second: the run itself keeps no account of any of this, and pays nothing
 * for it. Rates and the ages of turns come from comparing one look with those before.
 */
export class Observer {
  readonly #rates = new RateMeter();
  readonly #ages = new TurnAges();

  /**
   * @param failure what the pipeline has stopped with
   * @param figures what the pruner of this run does
   */
  look(run: Run | null, failure: unknown = null, figures: PruneFigures | null = null): InstanceDetails {
    const error = failure === null ? null : shortError(failure);
    if (run === null) return { ...NOTHING, error };
    return { ...this.#detailsOf(run), prune: figures === null ? null : pruningOf(figures), error };
  }

  #detailsOf(run: Run): Omit<InstanceDetails, 'error' | 'prune'> {
    const { executor, commits, letters, settledBefore } = run;
    const now = performance.now();
    const { state, lagBytes, reconnects } = run.stream.status();
    const fullKeys = letters?.fullKeys ?? [];
    return {
      ...executor.counts(),
      ...notableKeys(executor.strands(), now),
      paused: run.paused,
      watermark: cut(executor.watermark, LONGEST_POSITION),
      settledBefore,
      watermarkAge: settledBefore === null ? null : ageOf(settledBefore),
      source: { state, lagBytes, reconnects },
      offsetsAvailable: commits.available,
      lettersAvailable: letters?.available ?? true,
      suspecting: letters?.suspecting ?? false,
      unsaved: commits.unsaved,
      full: fullKeys.length,
      releasing: letters?.releasing.length ?? 0,
      rates: this.#rates.look(executor, now),
      oldest: oldestOf(run),
      turns: this.#turnsOf(run, now),
      parkedKeys: someOf(executor.parkedKeys()),
      fullKeys: someOf(fullKeys),
    };
  }

  #turnsOf(run: Run, now: number): InstanceDetails['turns'] {
    const age = this.#ages.look(run.turns(), now);
    const turns: InstanceDetails['turns'] = [];
    for (const turn of run.turns()) {
      const { strand, stuck } = turn;
      const { head, attempt } = strand;
      turns.push({
        key: cut(strand.key, LONGEST_KEY),
        id: cut(head.event.id, LONGEST_ID),
        attempt,
        age: seconds(age(turn)),
        stuck,
      });
      if (turns.length === NAMED) break;
    }
    return turns;
  }
}

function oldestOf({ executor: { oldest } }: Run): InstanceDetails['oldest'] {
  if (oldest === null) return null;
  return {
    key: cut(oldest.key, LONGEST_KEY),
    id: cut(oldest.id, LONGEST_ID),
    position: cut(oldest.position, LONGEST_POSITION),
    age: ageOf(oldest.transaction.commitTime),
  };
}

/** Two clocks are compared here: the server's, and that of this process. */
function ageOf(time: string): number {
  return seconds(Math.max(0, Date.now() - Date.parse(time)));
}

function someOf(keys: Iterable<string>): string[] {
  const some: string[] = [];
  for (const key of keys) {
    some.push(cut(key, LONGEST_KEY));
    if (some.length === NAMED) break;
  }
  return some;
}
