import type { PipelineStatus } from '@strandline/pipeline';

/** What of a pipeline tells whether it gets on. */
export type ProgressLook = Pick<
  PipelineStatus,
  'state' | 'owned' | 'settled' | 'unsettled' | 'watermark' | 'epoch'
> & {
  readonly source: Pick<NonNullable<PipelineStatus['source']>, 'lagBytes'> | null;
};

/**
 * Whether a pipeline gets on, from looks at it: it stands still when nothing was settled and the watermark has not moved
 * although there was work all the while, here or in the log. Where the source can't tell how much log there is, only
 * what is here counts.
 */
export class Progress {
  #last: ProgressLook | null = null;
  /** Since when there has been work and no progress, on the clock of `look`; NaN while it gets on or is idle. */
  #since = NaN;

  /** @param now milliseconds of a monotonic clock */
  look(status: ProgressLook, now: number): void {
    const last = this.#last;
    this.#last = status;
    if (
      last === null ||
      status.state !== 'running' ||
      !status.owned ||
      !hasWork(status) ||
      hasMoved(last, status)
    ) {
      this.#since = NaN;
    } else if (Number.isNaN(this.#since)) {
      this.#since = now;
    }
  }

  /** Milliseconds for which it has stood still; 0 while it gets on or has nothing to do. */
  standing(now: number): number {
    return Number.isNaN(this.#since) ? 0 : now - this.#since;
  }
}

function hasWork({ unsettled, source }: ProgressLook): boolean {
  return unsettled > 0 || (source?.lagBytes ?? 0) > 0;
}

function hasMoved(before: ProgressLook, now: ProgressLook): boolean {
  return now.settled !== before.settled || now.watermark !== before.watermark || now.epoch !== before.epoch;
}
